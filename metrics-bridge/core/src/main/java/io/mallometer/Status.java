package io.mallometer;

/**
 * Whether mallometer counts, why or why not, and what to do about it.
 *
 * @param state whether native allocations are counted
 * @param reason how the library came in ({@code "preload"}) while {@link State#ACTIVE}; otherwise
 *     why nothing is counted, in one sentence without a final full stop
 * @param remedy what to do, literally where that is possible: a command line or a setting that can
 *     be copied. Empty if there is nothing to do
 */
public record Status(State state, String reason, String remedy) {

  /** The reason of an {@link State#ACTIVE} status. */
  static final String PRELOAD = "preload";

  /** The status while the preloaded library counts. */
  public static Status counting() {
    return new Status(State.ACTIVE, PRELOAD, "");
  }

  /** Whether native allocations are counted now. */
  public boolean active() {
    return state == State.ACTIVE;
  }

  /** One line for a log: state, reason, and the remedy if there is one. */
  @Override
  public String toString() {
    return state + " (" + reason + ")" + (remedy.isEmpty() ? "" : ": " + remedy);
  }
}
