package io.mallometer.model;

/**
 * Whether the last hour is recorded in a file that outlives the process, the black box.
 *
 * @param state whether it is
 * @param path the file; empty if nobody asked for one
 * @param life the number in the file's header that no other life has; 0 unless recording
 * @param reason why it is off although it was asked for; empty otherwise
 */
public record Recording(State state, String path, long life, String reason) {

  /** What became of the wish to record. */
  public enum State {
    /** Nobody asked for it. */
    OFF,
    /** The file is written. */
    ON,
    /** It was asked for, and {@link Recording#reason()} says why it is off. */
    FAILED
  }

  private static final Recording OFF = new Recording(State.OFF, "", 0, "");

  /** Nobody asked for a recording. */
  public static Recording off() {
    return OFF;
  }

  /** It was asked for and failed. */
  public static Recording failed(String path, String reason) {
    return new Recording(State.FAILED, path, 0, reason);
  }
}
