package io.mallometer.internal.pool;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * One look at all pools.
 *
 * @param began when it began, in nanoseconds
 * @param longest the longest time in which it reads buffers, in nanoseconds
 */
record Look(long began, long longest, LongSupplier nanoTime) {

  /** Returns whether the time for buffers is used up, which begins with this call. */
  BooleanSupplier timeForBuffers() {
    long end = nanoTime.getAsLong() + longest;
    return () -> nanoTime.getAsLong() - end >= 0;
  }
}
