package io.mallometer.internal.gate;

import java.util.Locale;

/** The judgement on one figure. */
public enum FigureChange {
  /** A failure: more is used than expected, beyond the tolerance and the noise band. */
  WORSE,
  /** A warning: more is used, beyond the tolerance but inside the noise band. */
  NOISE,
  /** An improvement: less is used, beyond the tolerance and the noise band. */
  BETTER,
  /** No change: the difference is within the tolerance, or less is used inside the noise band. */
  EQUAL;

  /** Returns the name of this judgement in reports. */
  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
