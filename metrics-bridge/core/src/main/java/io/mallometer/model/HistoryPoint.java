package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.time.Instant;

/**
 * Figures of the process at one moment of the last hour. Unknown figures are {@code NaN}.
 *
 * @param netBytes the bytes allocated minus the bytes freed since counting began; negative if the
 *     process freed much memory that it had allocated before an attach
 * @param usedBytes the bytes that count toward the cgroup's limit
 * @param residentUsedBytes the resident bytes that count toward {@link Setting#LIMIT}: all except
 *     pages of files
 */
public record HistoryPoint(
    @Figure("The time of the reading, by the wall clock") Instant time,
    @Figure(value = "Live bytes of native memory", unit = BYTES) double liveBytes,
    double netBytes,
    @Figure(value = "Live native objects", unit = COUNT) double liveObjects,
    @Figure(value = "Successful native allocations since the process started", unit = COUNT)
        double allocations,
    @Figure(value = "Native memory allocated since the process started", unit = BYTES)
        double allocatedBytes,
    @Figure(value = "The resident set", unit = BYTES) double residentBytes,
    @Figure(value = "What the kernel charges to the memory cgroup", unit = BYTES)
        double chargedBytes,
    @Figure(value = "The charged memory without inactive files", unit = BYTES)
        double workingSetBytes,
    double usedBytes,
    double residentUsedBytes,
    @Figure(value = "The cgroup's limit", unit = BYTES) double limitBytes) {

  /** Returns the figures in a snapshot. */
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
   * Returns the bytes allocated minus the bytes freed. After an attach with {@link
   * ByteUnit#GLIBC_CHUNK}, the live bytes contain {@link CallSites#SIZE_WORD} more bytes for each
   * object, so the result contains them, too.
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
