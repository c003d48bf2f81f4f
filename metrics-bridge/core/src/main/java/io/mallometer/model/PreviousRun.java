package io.mallometer.model;

import java.time.Instant;

/**
 * How the previous run ended. The previous run is the process that wrote the recording before this
 * process did.
 */
public record PreviousRun(
    @Figure("Where it is recorded") String file,
    @Figure("Its process id") long pid,
    @Figure("When it started") Instant started,
    @Figure("When the previous run last wrote into its recording") Instant ended,
    @Figure("Why it ended: oom, killed, exit or unknown") String reason,
    @Figure("Whether it ended otherwise than by an exit") boolean alarming,
    @Figure("How it ended and what had grown, without a final full stop") String sentence,
    @Figure("How memory grew before the end, as lines of text") String report) {

  /**
   * The {@code reason} of a run that the kernel certainly or probably killed at the memory limit.
   */
  public static final String OOM = "oom";
}
