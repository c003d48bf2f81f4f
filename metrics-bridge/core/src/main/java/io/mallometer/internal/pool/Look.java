package io.mallometer.internal.pool;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A reading of all pools.
 *
 * @param began the moment at which the reading began, in nanoseconds
 * @param longest the most CPU time for the buffers of one copy of a library, and again for its
 *     chunks, in nanoseconds
 * @param cpuTime the CPU time of the reading thread, in nanoseconds
 */
record Look(long began, long longest, LongSupplier cpuTime) {

  /** Returns a function that tests whether the thread has used {@code longest} since this call. */
  BooleanSupplier time() {
    long end = cpuTime.getAsLong() + longest;
    return () -> cpuTime.getAsLong() - end >= 0;
  }
}
