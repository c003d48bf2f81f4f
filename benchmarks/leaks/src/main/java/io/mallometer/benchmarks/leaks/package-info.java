/** Code that leaks native memory and code that only seems to, for tests of verdicts. */
@NullMarked
package io.mallometer.benchmarks.leaks;

import org.jspecify.annotations.NullMarked;
