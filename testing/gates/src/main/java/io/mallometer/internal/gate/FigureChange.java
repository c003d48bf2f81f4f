package io.mallometer.internal.gate;

import java.util.Locale;

/** The judgement on one figure. */
public enum FigureChange {
  /** A failure: worse than expected, beyond the tolerance and the noise band. */
  WORSE,
  /** A warning: worse than expected, beyond the tolerance but inside the noise band. */
  NOISE,
  /** An improvement: better than expected, beyond the tolerance and the noise band. */
  BETTER,
  /**
   * No change: the difference is within the tolerance, or the figure is better but inside the noise
   * band.
   */
  EQUAL;

  /** Returns the name of this judgement in reports. */
  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
