package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.time.Instant;

/**
 * Figures of the process at one moment of the last hour. Unknown figures are {@code NaN}.
 *
 * @param residentUsedBytes the resident bytes that count toward any limit but the cgroup's
 */
public record HistoryPoint(
    @Figure("The time of the reading, by the wall clock") Instant time,
    @Figure(value = "The counters", inline = true) Counted counted,
    @Figure(value = "The resident set", unit = BYTES) double residentBytes,
    double residentUsedBytes,
    @Figure(value = "The cgroup's memory", inline = true) Charged charged) {

  /**
   * The counters of native memory.
   *
   * @param netBytes bytes allocated less bytes freed since counting began; below 0 if much memory
   *     from before an attach is freed. If live bytes are unknown, only this figure shows growth
   */
  public record Counted(
      @Figure(value = "Live bytes of native memory", unit = BYTES) double liveBytes,
      double netBytes,
      @Figure(value = "Live native objects", unit = COUNT) double liveObjects,
      @Figure(value = "Successful native allocations since the process started", unit = COUNT)
          double allocations,
      @Figure(value = "Native memory allocated since the process started", unit = BYTES)
          double allocatedBytes) {

    /** The counters of a process in which nothing is counted. */
    public static final Counted NONE =
        new Counted(Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);
  }

  /**
   * The memory of the cgroup.
   *
   * @param usedBytes the bytes that count toward the limit
   */
  public record Charged(
      @Figure(value = "What the kernel charges to the memory cgroup", unit = BYTES)
          double chargedBytes,
      @Figure(value = "The charged memory without inactive files", unit = BYTES)
          double workingSetBytes,
      double usedBytes,
      @Figure(value = "The cgroup's limit", unit = BYTES) double limitBytes) {

    /** The memory of a process outside a cgroup. */
    public static final Charged NONE = new Charged(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
  }

  /** Returns the figures of a snapshot. */
  public static HistoryPoint of(Snapshot snapshot) {
    ProcessMemory memory = snapshot.memory();
    return new HistoryPoint(
        snapshot.time(),
        snapshot
            .process()
            .map(process -> counted(process, snapshot.self().byteUnit()))
            .orElse(Counted.NONE),
        memory.residentBytes(),
        memory.residentUsedBytes(),
        memory.cgroup().map(HistoryPoint::charged).orElse(Charged.NONE));
  }

  private static Counted counted(NativeCounters process, ByteUnit unit) {
    return new Counted(
        process.liveBytes(),
        net(process, unit),
        process.liveObjects(),
        process.allocations(),
        process.allocatedBytes());
  }

  private static Charged charged(CgroupMemory cgroup) {
    return new Charged(
        cgroup.chargedBytes(), cgroup.workingSetBytes(), cgroup.usedBytes(), cgroup.limitBytes());
  }

  /**
   * Returns allocated less freed bytes, with the size words that live bytes have after an attach.
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
