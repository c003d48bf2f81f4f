/** A JMH profiler of native memory. */
@NullMarked
package io.mallometer.jmh;

import org.jspecify.annotations.NullMarked;
