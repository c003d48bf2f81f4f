package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.RATIO;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.util.Map;
import java.util.Optional;

/** The memory cgroup of the process, as the kernel accounts for it. */
public record CgroupMemory(
    @Figure("1 or 2") int version,
    @Figure(value = "What is charged now: the sum of all parts", unit = BYTES) long chargedBytes,
    @Figure(
            value =
                "Memory charged to the cgroup by part; the parts add up to the charge. A part is absent where this kernel does not tell",
            unit = BYTES)
        Map<ChargedPart, Long> parts,
    @Figure(
            value =
                "The cgroup's memory limit: the lowest of this cgroup and those above it that are visible; unknown without one",
            unit = BYTES,
            meter = "cgroup.memory.limit",
            attribute = "CgroupLimitBytes")
        double limitBytes,
    @Figure(
            value =
                "Memory above which the kernel slows the cgroup down and reclaims; unknown without such a limit",
            unit = BYTES,
            meter = "cgroup.memory.high",
            attribute = "CgroupHighBytes")
        double highBytes,
    @Figure(
            value =
                "Memory charged to the cgroup without inactive files, by which Kubernetes evicts; unknown where nothing tells",
            unit = BYTES,
            meter = "cgroup.memory.working.set",
            attribute = "CgroupWorkingSetBytes")
        double workingSetBytes,
    @Figure(
            value = "Memory of the cgroup in swap",
            unit = BYTES,
            meter = "cgroup.memory.swap",
            attribute = "CgroupSwapBytes")
        double swapBytes,
    @Figure(
            value =
                "How often the cgroup reached high or max, ran out of memory (oom), or had a process killed (oom_kill), by the kernel's name of the event",
            unit = COUNT,
            grows = true)
        Map<String, Long> events,
    @Figure("Time lost waiting for memory; empty if the kernel does not tell")
        Optional<Pressure> pressure) {

  /** The time for which tasks of the cgroup waited for memory. */
  public record Pressure(
      @Figure(value = "The time in which at least one task waited; only grows", unit = SECONDS)
          double someSeconds,
      @Figure(value = "The time in which all tasks waited; only grows", unit = SECONDS)
          double fullSeconds,
      @Figure(
              value = "Share of the last ten seconds in which at least one waited, 0 to 1",
              unit = RATIO)
          double someRatio10s,
      @Figure(value = "Share of the last ten seconds in which all waited, 0 to 1", unit = RATIO)
          double fullRatio10s) {}

  public CgroupMemory {
    parts = Map.copyOf(parts);
    events = Map.copyOf(events);
  }

  /**
   * Returns the bytes that count toward the limit: the charged bytes without files, because the
   * kernel drops files before it kills a process.
   *
   * <p>If the bytes of files are unknown, returns the working set. If that is unknown too, returns
   * the charged bytes.
   */
  public double usedBytes() {
    Long files = parts.get(ChargedPart.PAGE_CACHE);
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
