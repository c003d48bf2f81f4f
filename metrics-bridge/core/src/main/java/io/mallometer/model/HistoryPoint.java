package io.mallometer.model;

import java.time.Instant;

/**
 * Figures of the process at one moment of the last hour. Figures that were not known are {@code
 * NaN}.
 *
 * @param time when it was read, by the wall clock
 * @param liveBytes native memory in use
 * @param netBytes native memory allocated less freed since counting began; below 0 if much is freed
 *     that was allocated before an attach. Where that is unknown, growth shows in this alone
 * @param liveObjects native objects in use
 * @param allocations successful native allocations since the process started
 * @param allocatedBytes native memory handed out since the process started
 * @param residentBytes the resident set
 * @param chargedBytes what the kernel charges to the memory cgroup
 * @param workingSetBytes the same without inactive files
 * @param usedBytes what counts toward the cgroup's limit
 * @param residentUsedBytes what of the resident set counts toward any other limit
 * @param limitBytes the cgroup's limit
 */
public record HistoryPoint(
    Instant time,
    double liveBytes,
    double netBytes,
    double liveObjects,
    double allocations,
    double allocatedBytes,
    double residentBytes,
    double chargedBytes,
    double workingSetBytes,
    double usedBytes,
    double residentUsedBytes,
    double limitBytes) {

  /** The figures of a snapshot. */
  public static HistoryPoint of(Snapshot snapshot) {
    NativeCounters counted = snapshot.process().orElse(null);
    CgroupMemory cgroup = snapshot.memory().cgroup().orElse(null);
    return new HistoryPoint(
        snapshot.time(),
        counted == null ? Double.NaN : counted.liveBytes(),
        counted == null ? Double.NaN : net(counted, snapshot.self().byteUnit()),
        counted == null ? Double.NaN : counted.liveObjects(),
        counted == null ? Double.NaN : counted.allocations(),
        counted == null ? Double.NaN : counted.allocatedBytes(),
        snapshot.memory().residentBytes(),
        cgroup == null ? Double.NaN : cgroup.chargedBytes(),
        cgroup == null ? Double.NaN : cgroup.workingSetBytes(),
        cgroup == null ? Double.NaN : cgroup.usedBytes(),
        snapshot.memory().residentUsedBytes(),
        cgroup == null ? Double.NaN : cgroup.limitBytes());
  }

  /**
   * In the unit of live bytes, which after an attach over glibc has a size word for each object.
   */
  private static double net(NativeCounters counted, ByteUnit unit) {
    if (!counted.complete()) {
      return Double.NaN;
    }
    boolean sizeWords = unit == ByteUnit.GLIBC_CHUNK && !counted.baseline().equals(Baseline.NONE);
    long objects = sizeWords ? counted.allocations() - counted.frees() : 0;
    return counted.allocatedBytes() - counted.freedBytes() + CallSites.SIZE_WORD * objects;
  }
}
