/** Code that leaks native memory and code that only looks so, to try verdicts on. */
@NullMarked
package io.mallometer.benchmarks.leaks;

import org.jspecify.annotations.NullMarked;
