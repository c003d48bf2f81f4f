package io.mallometer.model;

/**
 * State of the recording of the last hour in the black box, a file that outlives the process.
 *
 * @param life the number in the file's header that no other life has; 0 unless recording
 */
public record Recording(
    @Figure("Whether it is") State state,
    @Figure("The file; empty if no recording was requested") String path,
    long life,
    @Figure("Why it is off although it was asked for; empty otherwise") String reason) {

  /** State of a recording. */
  public enum State {
    /** No recording was requested. */
    OFF,
    /** The file is written. */
    ON,
    /** It was asked for, and {@link Recording#reason()} says why it is off. */
    FAILED
  }

  private static final Recording OFF = new Recording(State.OFF, "", 0, "");

  /** No recording was requested. */
  public static Recording off() {
    return OFF;
  }

  /** A recording was requested and failed. */
  public static Recording failed(String path, String reason) {
    return new Recording(State.FAILED, path, 0, reason);
  }
}
