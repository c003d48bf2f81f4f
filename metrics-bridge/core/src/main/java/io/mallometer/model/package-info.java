/**
 * The records, enums and options that every face shows and every reading returns. They are
 * immutable. An unknown figure is {@code NaN} or an empty {@code Optional}, never 0.
 */
@NullMarked
package io.mallometer.model;

import org.jspecify.annotations.NullMarked;
