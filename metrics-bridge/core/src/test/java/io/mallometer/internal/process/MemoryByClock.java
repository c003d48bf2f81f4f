package io.mallometer.internal.process;

import java.util.function.LongSupplier;

/** The memory of this process, divided at the pace of a clock that a test sets, at no cost. */
public final class MemoryByClock {

  private MemoryByClock() {}

  /** Returns a source by a monotonic clock in nanoseconds. */
  public static MemorySource of(LongSupplier nanoTime) {
    return new ProcessMemorySource(new ProcessFiles(), nanoTime, () -> 0);
  }
}
