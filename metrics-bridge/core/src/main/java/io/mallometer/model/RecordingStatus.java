package io.mallometer.model;

/**
 * The state of the recording. The recording is a file with the figures of the last hour. The file
 * remains after the process has ended.
 *
 * @param life a number in the file's header that is unique to this run; 0 unless the library
 *     records
 */
public record RecordingStatus(
    @Figure("Whether the last hour is recorded") State state,
    @Figure("The file; empty if no recording was requested") String path,
    long life,
    @Figure("Why it is off although it was asked for; empty otherwise") String reason) {

  /** State of a recording. */
  public enum State {
    /** No recording was requested. */
    OFF,
    /** The library records into the file. */
    ON,
    /** The recording was requested, and {@link RecordingStatus#reason()} says why it is off. */
    FAILED
  }

  private static final RecordingStatus OFF = new RecordingStatus(State.OFF, "", 0, "");

  /** Returns the status of a process for which no recording was requested. */
  public static RecordingStatus off() {
    return OFF;
  }

  /** Returns the status of a recording that was requested and failed. */
  public static RecordingStatus failed(String path, String reason) {
    return new RecordingStatus(State.FAILED, path, 0, reason);
  }
}
