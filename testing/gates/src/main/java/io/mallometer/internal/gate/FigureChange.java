package io.mallometer.internal.gate;

import java.util.Locale;

/** The judgement on one percentile of a metric. */
public enum FigureChange {
  /** A failure: worse than expected, beyond the tolerance and the noise band. */
  WORSE,
  /** A warning: worse than expected, beyond the tolerance but inside the noise band. */
  NOISE,
  /** An improvement: better than expected, beyond the tolerance and the noise band. */
  BETTER,
  /** No change: within the tolerance, or better but inside the noise band. */
  EQUAL;

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
