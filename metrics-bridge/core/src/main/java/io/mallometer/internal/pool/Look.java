package io.mallometer.internal.pool;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A reading of all pools.
 *
 * @param began the time at which the reading began, in nanoseconds
 * @param longest the limit of the CPU time, in nanoseconds, for reading the tracked buffers of one
 *     copy of Netty. Reading the chunks of the pools in that copy has a separate limit of equal
 *     length
 * @param cpuTime supplies the CPU time that the reading thread has used, in nanoseconds
 */
record Look(long began, long longest, LongSupplier cpuTime) {

  /**
   * Returns a function that tests whether the reading thread has used {@code longest} nanoseconds
   * of CPU time since this call.
   */
  BooleanSupplier time() {
    long end = cpuTime.getAsLong() + longest;
    return () -> cpuTime.getAsLong() - end >= 0;
  }
}
