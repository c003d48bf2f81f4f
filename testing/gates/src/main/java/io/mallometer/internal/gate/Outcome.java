package io.mallometer.internal.gate;

import java.util.Locale;

/** How a comparison ended, and the exit code that scripts see. */
public enum Outcome {
  /** No figure differs by more than it may. */
  EQUAL(0, 0),
  /** At least one figure is worse. */
  WORSE(2, 1),
  /** At least one figure is better and none is worse. */
  BETTER(4, 0),
  /**
   * None is worse, but something that is expected was not measured, or not in the same unit, or
   * none of its percentiles is judged.
   */
  NOT_MEASURED(3, 125);

  private final int exitCode;
  private final int bisectCode;

  Outcome(int exitCode, int bisectCode) {
    this.exitCode = exitCode;
    this.bisectCode = bisectCode;
  }

  public int exitCode() {
    return exitCode;
  }

  /**
   * Returns the exit code for {@code git bisect run}: 0 for a good commit, 1 for a bad one, 125 for
   * one that cannot be tested.
   */
  public int bisectCode() {
    return bisectCode;
  }

  /** Returns its name in reports, such as {@code not measured}. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
