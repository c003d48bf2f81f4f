/**
 * Turns addresses and method numbers into names.
 *
 * <p>Code that every process runs avoids lambdas and streams: at the first use of each lambda the
 * JVM generates a class, which takes most of a millisecond of CPU time.
 */
@NullMarked
package io.mallometer.internal.symbol;

import org.jspecify.annotations.NullMarked;
