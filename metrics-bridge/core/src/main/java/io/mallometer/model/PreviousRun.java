package io.mallometer.model;

import java.time.Instant;

/**
 * How the process that wrote the black box before this one ended.
 *
 * @param file where it is recorded
 * @param pid its process id
 * @param ended when it last wrote
 * @param alarming whether it ended otherwise than by an exit
 * @param sentence how it ended, without a final full stop
 * @param report the way there, as lines of text
 */
public record PreviousRun(
    String file, long pid, Instant ended, boolean alarming, String sentence, String report) {}
