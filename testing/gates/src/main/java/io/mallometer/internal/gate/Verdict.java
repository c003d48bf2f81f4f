package io.mallometer.internal.gate;

import java.util.Locale;

/** The judgement on one figure. */
public enum Verdict {
  /** More is used than expected, beyond the tolerance and the noise band: fails the gate. */
  WORSE,
  /** More is used, beyond the tolerance but inside the noise band: a warning. */
  NOISE,
  /** Less is used, beyond the tolerance and the noise band. */
  BETTER,
  /** The difference is within the tolerance, or less is used inside the noise band. */
  EQUAL;

  /** Returns its name in reports. */
  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
