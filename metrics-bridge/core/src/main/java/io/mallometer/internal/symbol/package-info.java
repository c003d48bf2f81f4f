/**
 * Addresses and method numbers to names: library, symbol, Java method and line.
 *
 * <p>There are no streams or lambdas in what every process runs, and few regular expressions: the
 * JVM makes a class for each lambda at its first use, which takes the program's processor for most
 * of a millisecond.
 */
@NullMarked
package io.mallometer.internal.symbol;

import org.jspecify.annotations.NullMarked;
