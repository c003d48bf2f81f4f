/**
 * The records, enums and options that readings return, and that MBeans, metrics and views show.
 * They are immutable. An unknown figure is {@code NaN} or an empty {@code Optional}, never 0.
 */
@NullMarked
package io.mallometer.model;

import org.jspecify.annotations.NullMarked;
