package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import java.time.Instant;

/** A successful request for more than {@link SelfReport#hugeThresholdBytes()}. */
public record HugeAllocation(
    @Figure("1 for the process's first; numbers that are left out were missed") long number,
    @Figure("When it was made") Instant time,
    @Figure(value = "What was asked for", unit = BYTES) long bytes,
    @Figure("The kernel's number of the thread") int threadId,
    @Figure("The kernel's name of the thread: the first 15 bytes of the Java name")
        String threadName) {}
