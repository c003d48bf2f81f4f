package io.mallometer.jmx;

import io.mallometer.model.ScopeCounts;
import org.jspecify.annotations.Nullable;

/**
 * Counters between hook and unhook, as composite data.
 *
 * @param allocationCount successful allocations
 * @param smallAllocationCount those of up to 4096 bytes
 * @param largeAllocationCount those above 4096 bytes
 * @param failedAllocationCount failed allocation calls
 * @param requestedBytes bytes asked for
 * @param allocatedBytes bytes handed out
 * @param freeCount frees
 * @param freedBytes bytes given back
 * @param liveBytes net change of the bytes in use, may be negative; null if unknown
 * @param liveObjects net change of the objects in use, may be negative; null if unknown
 */
public record Statistics(
    long allocationCount,
    long smallAllocationCount,
    long largeAllocationCount,
    long failedAllocationCount,
    long requestedBytes,
    long allocatedBytes,
    long freeCount,
    long freedBytes,
    @Nullable Long liveBytes,
    @Nullable Long liveObjects) {

  static Statistics of(ScopeCounts counts) {
    double net = counts.netBytes();
    return new Statistics(
        counts.calls(),
        counts.smallCalls(),
        counts.largeCalls(),
        counts.failed(),
        counts.requestedBytes(),
        counts.allocatedBytes(),
        counts.frees(),
        counts.freedBytes(),
        NativeMemory.known(net),
        Double.isNaN(net) ? null : counts.calls() - counts.frees());
  }
}
