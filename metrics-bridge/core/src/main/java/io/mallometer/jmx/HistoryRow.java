package io.mallometer.jmx;

import io.mallometer.model.HistoryPoint;
import org.jspecify.annotations.Nullable;

/**
 * One moment of the last hour, as composite data. Unknown figures are null.
 *
 * @param time when it was, in ISO 8601
 * @param liveBytes native memory in use
 * @param liveObjects native objects in use
 * @param residentBytes the resident set
 * @param chargedBytes what the kernel charges to the memory cgroup
 * @param workingSetBytes the same without inactive files
 * @param limitBytes the cgroup's limit
 */
public record HistoryRow(
    String time,
    @Nullable Long liveBytes,
    @Nullable Long liveObjects,
    @Nullable Long residentBytes,
    @Nullable Long chargedBytes,
    @Nullable Long workingSetBytes,
    @Nullable Long limitBytes) {

  static HistoryRow of(HistoryPoint point) {
    return new HistoryRow(
        point.time().toString(),
        NativeMemory.known(point.liveBytes()),
        NativeMemory.known(point.liveObjects()),
        NativeMemory.known(point.residentBytes()),
        NativeMemory.known(point.chargedBytes()),
        NativeMemory.known(point.workingSetBytes()),
        NativeMemory.known(point.limitBytes()));
  }
}
