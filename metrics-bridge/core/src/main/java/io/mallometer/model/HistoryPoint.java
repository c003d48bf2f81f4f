package io.mallometer.model;

import java.time.Instant;

/**
 * Figures of the process at one moment of the last hour. Unknown figures are {@code NaN}.
 *
 * @param time the time of the reading, by the wall clock
 * @param liveBytes live bytes of native memory
 * @param netBytes bytes allocated less bytes freed since counting began; below 0 if much memory
 *     from before an attach is freed. If live bytes are unknown, only this figure shows growth
 * @param liveObjects live native objects
 * @param allocations successful native allocations since the process started
 * @param allocatedBytes native memory allocated since the process started
 * @param residentBytes the resident set
 * @param chargedBytes what the kernel charges to the memory cgroup
 * @param workingSetBytes the charged memory without inactive files
 * @param usedBytes the bytes that count toward the cgroup's limit
 * @param residentUsedBytes the resident bytes that count toward any other limit
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
