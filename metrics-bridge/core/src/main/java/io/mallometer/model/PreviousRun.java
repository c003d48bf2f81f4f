package io.mallometer.model;

import java.time.Instant;

/**
 * The previous run: how the process that wrote the recording before this one ended.
 *
 * @param file where it is recorded
 * @param pid its process id
 * @param started when it started
 * @param ended when it last wrote
 * @param reason why it ended: {@link #OOM}, {@code killed}, {@code exit} or {@code unknown}
 * @param alarming whether it ended otherwise than by an exit
 * @param sentence how it ended and what had grown, without a final full stop
 * @param report the way there, as lines of text
 */
public record PreviousRun(
    String file,
    long pid,
    Instant started,
    Instant ended,
    String reason,
    boolean alarming,
    String sentence,
    String report) {

  /** The kernel killed it because of the memory limit, for certain or most likely. */
  public static final String OOM = "oom";
}
