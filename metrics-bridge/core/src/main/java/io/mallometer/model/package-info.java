/**
 * Records, enums and options of the API. They are immutable. An unknown figure is {@code NaN} or an
 * empty {@code Optional}, never 0.
 */
@NullMarked
package io.mallometer.model;

import org.jspecify.annotations.NullMarked;
