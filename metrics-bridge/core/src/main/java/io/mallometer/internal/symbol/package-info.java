/**
 * Turns addresses and method numbers into names: library, symbol, Java method and line.
 *
 * <p>Code that every process runs uses no streams or lambdas, and few regular expressions, because
 * the JVM generates a class for each lambda at its first use, which takes most of a millisecond of
 * CPU time.
 */
@NullMarked
package io.mallometer.internal.symbol;

import org.jspecify.annotations.NullMarked;
