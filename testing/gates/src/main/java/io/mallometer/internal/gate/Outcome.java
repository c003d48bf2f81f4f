package io.mallometer.internal.gate;

import java.util.Locale;

/** The result of a comparison, with the exit code for scripts. */
public enum Outcome {
  /** No figure is worse or better. */
  EQUAL(0, 0),
  /** A figure is worse. */
  WORSE(2, 1),
  /** A figure is better, and none is worse. */
  BETTER(4, 0),
  /**
   * No figure is worse, but an expected metric was not measured, has another unit, or has no
   * percentile to judge.
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

  /** Returns the name of this outcome in reports, such as {@code not measured}. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
