package io.mallometer.internal.interposer;

import io.mallometer.model.SelfReport.Sampling;

/**
 * Sampling of nearly every allocation, for a time. At an interval of 2 bytes an object of 24 is
 * looked at with a probability of 1 - e^-12; the library takes an interval of 1 from the start
 * only. Whatever that costs is spent, since the target of the overhead would spare most of them.
 */
final class CloseSampling {

  private static final int OVERHEAD_TARGET = 1;
  private static final int SAMPLE_INTERVAL = 2;
  private static final long CLOSE_BYTES = 2;
  private static final double MILLION = 1e6;

  private int begun;
  private Sampling before = Sampling.OFF;

  /**
   * Begins, unless it has begun.
   *
   * @param sampling as it is now
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

  /** Ends what began, when it was ended as often. */
  synchronized void end() {
    if (begun > 0 && --begun == 0 && isChanged()) {
      LibraryFunctions.mallometer_configure(SAMPLE_INTERVAL, Math.round(before.intervalBytes()));
      double target = before.overheadTarget();
      LibraryFunctions.mallometer_configure(
          OVERHEAD_TARGET, Double.isNaN(target) ? 0 : Math.round(target * MILLION));
    }
  }

  /** Whether it goes on. Then there are so many live samples that their ages are not read. */
  synchronized boolean isOn() {
    return begun > 0;
  }

  /** Unknown where nothing is sampled. */
  private boolean isChanged() {
    return before.intervalBytes() > CLOSE_BYTES;
  }
}
