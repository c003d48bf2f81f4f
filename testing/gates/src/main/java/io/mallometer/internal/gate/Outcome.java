package io.mallometer.internal.gate;

import java.util.Locale;

/** The result of a comparison, with the exit code for scripts. */
public enum Outcome {
  EQUAL(0, 0),
  WORSE(2, 1),
  /** A figure is better, and none is worse. */
  BETTER(4, 0),
  /** No figure is worse, but an expected metric was not measured or cannot be compared. */
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
   * Returns the exit code for {@code git bisect run}: 0 for good, 1 for bad, 125 if the commit
   * cannot be tested.
   */
  public int bisectCode() {
    return bisectCode;
  }

  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
