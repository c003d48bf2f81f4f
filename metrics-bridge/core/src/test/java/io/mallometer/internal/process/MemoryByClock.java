package io.mallometer.internal.process;

import java.util.function.LongSupplier;

/**
 * Provides the memory of this process. The clock of a test decides when the resident set is split
 * into parts again. The CPU time of a split is always shown as 0.
 */
public final class MemoryByClock {

  private MemoryByClock() {}

  /** Returns a source that uses a monotonic clock in nanoseconds. */
  public static MemorySource of(LongSupplier nanoTime) {
    return new ProcessMemorySource(new ProcessFiles(), nanoTime, () -> 0);
  }
}
