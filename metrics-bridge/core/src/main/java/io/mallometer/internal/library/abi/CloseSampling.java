package io.mallometer.internal.library.abi;

import io.mallometer.model.SelfReport.Sampling;

/**
 * Samples nearly every allocation for a time, by an interval of 2 bytes, because the library
 * accepts 1 only at its start. Meanwhile the limit on the sampler's CPU time is off, because it
 * would make the sampler skip most allocations.
 */
final class CloseSampling {

  private static final int OVERHEAD_TARGET = 1;
  private static final int SAMPLE_INTERVAL = 2;
  private static final long CLOSE_BYTES = 2;
  private static final double MILLION = 1e6;

  private int begun;
  private Sampling before = Sampling.OFF;

  /**
   * Begins the sampling, unless it has begun already.
   *
   * @param sampling the sampling to return to at the end
   */
  synchronized void begin(Sampling sampling) {
    if (begun++ == 0) {
      before = sampling;
      if (isChanged()) {
        LibraryFunctions.mallometer_configure(OVERHEAD_TARGET, 0);
        LibraryFunctions.mallometer_configure(SAMPLE_INTERVAL, CLOSE_BYTES);
      }
    }
  }

  synchronized void end() {
    if (begun > 0 && --begun == 0 && isChanged()) {
      LibraryFunctions.mallometer_configure(SAMPLE_INTERVAL, Math.round(before.intervalBytes()));
      double target = before.overheadTarget();
      LibraryFunctions.mallometer_configure(
          OVERHEAD_TARGET, Double.isNaN(target) ? 0 : Math.round(target * MILLION));
    }
  }

  /**
   * Returns whether close sampling is on. The ages of live samples are then too many to be read.
   */
  synchronized boolean isOn() {
    return begun > 0;
  }

  private boolean isChanged() {
    return before.intervalBytes() > CLOSE_BYTES;
  }
}
