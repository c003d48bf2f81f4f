package io.mallometer.model;

import java.util.Map;
import java.util.Optional;

/**
 * The memory cgroup of the process, as the kernel accounts for it.
 *
 * @param version 1 or 2
 * @param chargedBytes what is charged now: the sum of all parts
 * @param bytes charged bytes by part; absent where this kernel does not tell
 * @param limitBytes the hard limit, the lowest of this cgroup and those above it that are visible;
 *     {@code NaN} without one
 * @param highBytes the limit above which the kernel slows the processes down and reclaims; {@code
 *     NaN} without one
 * @param workingSetBytes charged without inactive files: what Kubernetes evicts by; {@code NaN} if
 *     unknown
 * @param swapBytes swapped out; {@code NaN} if unknown
 * @param events how often something happened since the cgroup was made, by the kernel's name:
 *     {@code high}, {@code max}, {@code oom}, {@code oom_kill}
 * @param pressure time lost waiting for memory; empty if the kernel does not tell
 */
public record CgroupMemory(
    int version,
    long chargedBytes,
    Map<ChargedPart, Long> bytes,
    double limitBytes,
    double highBytes,
    double workingSetBytes,
    double swapBytes,
    Map<String, Long> events,
    Optional<Pressure> pressure) {

  /**
   * Time in which tasks of the cgroup waited for memory.
   *
   * @param someSeconds at least one task waited; only grows
   * @param fullSeconds all tasks waited; only grows
   * @param someRatio10s share of the last ten seconds in which at least one waited, 0 to 1
   * @param fullRatio10s share of the last ten seconds in which all waited, 0 to 1
   */
  public record Pressure(
      double someSeconds, double fullSeconds, double someRatio10s, double fullRatio10s) {}

  public CgroupMemory {
    bytes = Map.copyOf(bytes);
    events = Map.copyOf(events);
  }

  /**
   * Returns the bytes that count against the limit: without cached and mapped files, which the
   * kernel drops before it kills, or without inactive files where only those are known.
   */
  public double usedBytes() {
    Long files = bytes.get(ChargedPart.PAGE_CACHE);
    if (files != null) {
      return chargedBytes - files;
    }
    return Double.isNaN(workingSetBytes) ? chargedBytes : workingSetBytes;
  }

  /** Returns the share of the limit that is used; {@code NaN} without a limit. */
  public double usedShare() {
    return usedBytes() / limitBytes;
  }
}
