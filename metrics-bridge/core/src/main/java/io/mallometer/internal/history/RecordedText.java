package io.mallometer.internal.history;

import java.time.Instant;

/**
 * A text in the recording.
 *
 * @param monotonicNanos when it was written, by the monotonic clock
 */
record RecordedText(Instant time, long monotonicNanos, MemoryText text) {}
