package io.mallometer.internal.library.abi;

import io.mallometer.model.SelfReport.Sampling;

/**
 * Samples nearly every allocation for a time. The sampling interval is 2 bytes, because the library
 * accepts 1 byte only at its start. The sampler's CPU time is not limited meanwhile, because the
 * limit would make the sampler skip most allocations.
 */
final class CloseSampling {

  private static final int OVERHEAD_TARGET = 1;
  private static final int SAMPLE_INTERVAL = 2;
  private static final long CLOSE_BYTES = 2;
  private static final double MILLION = 1e6;

  private int begun;
  private Sampling before = Sampling.OFF;

  /**
   * Begins to sample nearly every allocation.
   *
   * @param sampling the present sampling, which {@link #end} restores
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
   * Returns whether nearly every allocation is sampled. Callers then read no ages of live samples,
   * because there are too many samples.
   */
  synchronized boolean isOn() {
    return begun > 0;
  }

  private boolean isChanged() {
    return before.intervalBytes() > CLOSE_BYTES;
  }
}
