package io.mallometer.model;

/** Whether mallometer counts, the reason, and the remedy. */
public record Status(
    @Figure("Whether native allocations are counted") State state,
    @Figure(
            "While active how the library came in, followed by what is not counted if something is"
                + " known not to be, such as attached; incomplete: 3 calls of malloc are not seen;"
                + " otherwise why nothing is counted, in one sentence without a final full stop")
        String reason,
    @Figure(
            "What to do, literally where that is possible: a command line or a setting "
                + "that can be copied. Empty if there is nothing to do")
        String remedy) {

  /** Returns the status of a preloaded library that counts. */
  public static Status counting() {
    return counting(SelfReport.PRELOADED);
  }

  /**
   * Returns the status of a library that counts.
   *
   * @param mode how the library came into the process, such as {@link SelfReport#ATTACHED}
   */
  public static Status counting(String mode) {
    return counting(mode, "");
  }

  /**
   * Returns the status of a library that counts, with the calls that it misses.
   *
   * @param gaps the calls that are not counted, as in {@link Attachment#gaps()}; empty if none are
   *     known
   */
  public static Status counting(String mode, String gaps) {
    return new Status(State.ACTIVE, gaps.isEmpty() ? mode : mode + "; incomplete: " + gaps, "");
  }

  /** Returns whether native allocations are counted now. */
  public boolean active() {
    return state == State.ACTIVE;
  }

  /** Returns one line for a log: state, reason, and the remedy if there is one. */
  @Override
  public String toString() {
    return state + " (" + reason + ")" + (remedy.isEmpty() ? "" : ": " + remedy);
  }
}
