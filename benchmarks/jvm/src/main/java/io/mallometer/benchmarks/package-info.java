/** The program whose CPU time {@code bin/bench jvm} compares. */
@NullMarked
package io.mallometer.benchmarks;

import org.jspecify.annotations.NullMarked;
