package io.mallometer.internal.library.abi;

import io.mallometer.model.SelfReport.Sampling;

/**
 * Samples nearly every allocation for a time. The sampling interval is 2 bytes, with which an
 * object of 24 bytes is sampled with a probability of 1 - e^-12; the library accepts an interval of
 * 1 only at its start. Meanwhile the sampler's overhead target (a limit on CPU time) is off,
 * because it would make the sampler skip most allocations.
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

  /** Undoes one call of {@link #begin}. The sampling ends when all calls are undone. */
  synchronized void end() {
    if (begun > 0 && --begun == 0 && isChanged()) {
      LibraryFunctions.mallometer_configure(SAMPLE_INTERVAL, Math.round(before.intervalBytes()));
      double target = before.overheadTarget();
      LibraryFunctions.mallometer_configure(
          OVERHEAD_TARGET, Double.isNaN(target) ? 0 : Math.round(target * MILLION));
    }
  }

  /**
   * Returns whether close sampling is on. The ages of live samples are then not read, because there
   * are too many.
   */
  synchronized boolean isOn() {
    return begun > 0;
  }

  /**
   * Returns whether close sampling changes the interval. False if nothing is sampled, or the
   * interval is at most 2 bytes already.
   */
  private boolean isChanged() {
    return before.intervalBytes() > CLOSE_BYTES;
  }
}
