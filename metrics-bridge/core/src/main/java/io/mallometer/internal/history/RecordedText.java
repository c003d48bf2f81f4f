package io.mallometer.internal.history;

import java.time.Instant;

/**
 * A text in the recording.
 *
 * @param time when it was written
 * @param monotonicNanos when it was written, by the monotonic clock
 * @param text what was written
 */
record RecordedText(Instant time, long monotonicNanos, MemoryText text) {}
