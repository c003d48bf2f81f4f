package io.mallometer.internal.history;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Memory and counters of the process at one moment. Unknown figures are {@code NaN}. */
record Sample(
    Instant time, long monotonicNanos, Malloc malloc, double residentBytes, Cgroup cgroup) {

  /**
   * Counters of malloc.
   *
   * @param allocatedBytes bytes allocated since counting began
   * @param netBytes allocated less freed bytes; it may be negative after an attach
   */
  record Malloc(double allocatedBytes, double netBytes, double liveBytes, double liveObjects) {}

  /**
   * Memory cgroup of the process.
   *
   * @param chargedBytes the bytes that the kernel charges to the cgroup
   * @param fileBytes cached files, which the kernel drops before it kills
   * @param oomKills processes of the cgroup that the kernel killed because of the limit
   */
  record Cgroup(double chargedBytes, double limitBytes, double fileBytes, double oomKills) {

    /**
     * Returns the charged bytes, without cached files if those are known, as a share of the limit
     * (0 to 1); {@code NaN} without a limit.
     */
    double shareOfLimit() {
      double files = Double.isNaN(fileBytes) ? 0 : fileBytes;
      return Math.max(0, chargedBytes - files) / limitBytes;
    }
  }

  /**
   * Returns this sample with known live bytes: the net bytes plus the bytes that were live before
   * an attach.
   */
  Sample withBefore(long bytes) {
    Malloc whole =
        new Malloc(
            malloc.allocatedBytes, malloc.netBytes, malloc.netBytes + bytes, malloc.liveObjects);
    return new Sample(time, monotonicNanos, whole, residentBytes, cgroup);
  }

  /** Returns how far the wall clock is ahead of the monotonic clock, in nanoseconds. */
  long clockOffsetNanos() {
    return TimeUnit.SECONDS.toNanos(time.getEpochSecond()) + time.getNano() - monotonicNanos;
  }

  static Sample read(ByteBuffer record) {
    boolean incomplete =
        (record.getInt(RecordingFormat.SAMPLE_FLAGS) & RecordingFormat.INCOMPLETE) != 0;
    return read(record, incomplete);
  }

  /**
   * Decodes a valid record.
   *
   * @param incomplete whether live bytes are unknown
   */
  static Sample read(ByteBuffer record, boolean incomplete) {
    double allocations = figure(record, RecordingFormat.SAMPLE_ALLOCATIONS);
    double allocated = figure(record, RecordingFormat.SAMPLE_ALLOCATED_BYTES);
    double net = allocated - figure(record, RecordingFormat.SAMPLE_FREED_BYTES);
    return new Sample(
        instant(record.getLong(RecordingFormat.SAMPLE_REALTIME_NS)),
        record.getLong(RecordingFormat.SAMPLE_MONOTONIC_NS),
        new Malloc(
            allocated,
            net,
            incomplete ? Double.NaN : net,
            incomplete ? Double.NaN : allocations - figure(record, RecordingFormat.SAMPLE_FREES)),
        figure(record, RecordingFormat.SAMPLE_RESIDENT_BYTES),
        new Cgroup(
            figure(record, RecordingFormat.SAMPLE_CHARGED_BYTES),
            figure(record, RecordingFormat.SAMPLE_LIMIT_BYTES),
            figure(record, RecordingFormat.SAMPLE_FILE_BYTES),
            figure(record, RecordingFormat.SAMPLE_OOM_KILLS)));
  }

  static Instant instant(long realtimeNanos) {
    return Instant.EPOCH.plusNanos(realtimeNanos);
  }

  private static double figure(ByteBuffer record, int offset) {
    long value = record.getLong(offset);
    return value == RecordingFormat.UNKNOWN ? Double.NaN : value;
  }
}
