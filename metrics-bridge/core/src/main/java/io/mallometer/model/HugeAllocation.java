package io.mallometer.model;

import java.time.Instant;

/**
 * One successful request above {@link SelfReport#hugeThresholdBytes()}.
 *
 * @param number 1 for the process's first; a gap in the numbers is what was missed
 * @param time when it was made
 * @param bytes what was asked for
 * @param threadId the kernel's number of the thread
 * @param threadName the kernel's name of the thread: the first 15 bytes of the Java name
 */
public record HugeAllocation(
    long number, Instant time, long bytes, int threadId, String threadName) {}
