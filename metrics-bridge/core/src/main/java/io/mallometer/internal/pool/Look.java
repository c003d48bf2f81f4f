package io.mallometer.internal.pool;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * One look at all pools.
 *
 * @param began when it began, in nanoseconds
 * @param longest the longest CPU time in which it reads buffers, or chunks, of one copy of a
 *     library, in nanoseconds
 * @param cpuTime the CPU time of the thread, in nanoseconds
 */
record Look(long began, long longest, LongSupplier cpuTime) {

  /** Returns whether the time is used up, which begins with this call. */
  BooleanSupplier time() {
    long end = cpuTime.getAsLong() + longest;
    return () -> cpuTime.getAsLong() - end >= 0;
  }
}
