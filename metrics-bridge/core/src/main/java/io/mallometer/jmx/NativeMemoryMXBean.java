package io.mallometer.jmx;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Native memory of the process as of the latest poll.
 *
 * <p>What is unknown is null, which JConsole shows as an empty value: every count while the library
 * does not count, and live and peak once counting was interrupted or where it began with an attach
 * that could not tell what was in use.
 *
 * <p>The operations work on a bracket of this MBean alone. They disturb nobody but another user of
 * the same MBean.
 */
public interface NativeMemoryMXBean {

  @Attribute(
      value = "Successful native allocation calls",
      units = "allocations",
      type = Attribute.COUNTER)
  @Nullable Long getAllocationCount();

  @Attribute(
      value = "Successful native allocation calls of up to 4096 bytes",
      units = "allocations",
      type = Attribute.COUNTER)
  @Nullable Long getSmallAllocationCount();

  @Attribute(
      value = "Successful native allocation calls above 4096 bytes",
      units = "allocations",
      type = Attribute.COUNTER)
  @Nullable Long getLargeAllocationCount();

  @Attribute(
      value = "Successful native allocations above the size MALLOMETER_HUGE",
      units = "allocations",
      type = Attribute.COUNTER)
  @Nullable Long getHugeAllocationCount();

  @Attribute(
      value = "Native allocation calls that failed",
      units = "allocations",
      type = Attribute.COUNTER)
  @Nullable Long getFailedAllocationCount();

  @Attribute(
      value = "Memory that successful native allocations asked for",
      units = "bytes",
      type = Attribute.COUNTER)
  @Nullable Long getRequestedBytes();

  @Attribute(
      value = "Native memory handed out, in the unit of freed and live",
      units = "bytes",
      type = Attribute.COUNTER)
  @Nullable Long getAllocatedBytes();

  @Attribute(value = "Native objects given back", units = "frees", type = Attribute.COUNTER)
  @Nullable Long getFreeCount();

  @Attribute(value = "Native memory given back", units = "bytes", type = Attribute.COUNTER)
  @Nullable Long getFreedBytes();

  @Attribute(value = "Native memory in use", units = "bytes", type = Attribute.GAUGE)
  @Nullable Long getLiveBytes();

  @Attribute(value = "Native objects in use", units = "objects", type = Attribute.GAUGE)
  @Nullable Long getLiveObjects();

  @Attribute(
      value = "The most native memory that was in use since counting began",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getPeakBytes();

  @Attribute(
      value = "The true peak is at most this much above the reported one",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getPeakErrorBytes();

  @Attribute(
      value = "The largest successful native request since counting began, if above 32 KiB",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getLargestRequestBytes();

  @Attribute(
      value = "Threads that have allocated or freed native memory and have not ended",
      units = "threads",
      type = Attribute.GAUGE)
  @Nullable Long getThreads();

  @Attribute("Sizes that successful native allocations asked for, by class; empty if unknown")
  List<SizeClass> getSizeDistribution();

  @Attribute(
      value = "The same as Prometheus has it: up to each size, under the size; empty if unknown",
      units = "allocations",
      type = Attribute.COUNTER)
  Map<String, Long> getAllocationsUpTo();

  @Attribute(value = "The resident set of the process", units = "bytes", type = Attribute.GAUGE)
  @Nullable Long getResidentBytes();

  @Attribute(
      value = "Resident memory by what it is, split some seconds ago; empty if unknown",
      units = "bytes",
      type = Attribute.GAUGE)
  Map<String, Long> getResidentParts();

  @Attribute(
      value = "What the kernel charges to the memory cgroup, by what it is; empty outside one",
      units = "bytes",
      type = Attribute.GAUGE)
  Map<String, Long> getCgroupParts();

  @Attribute(
      value = "The cgroup's memory limit, the lowest in force; null without one",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getCgroupLimitBytes();

  @Attribute(
      value = "Above this the kernel slows the cgroup down and reclaims; null without one",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getCgroupHighBytes();

  @Attribute(
      value = "Memory charged to the cgroup without inactive files, as Kubernetes evicts by",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getCgroupWorkingSetBytes();

  @Attribute(value = "Memory of the cgroup in swap", units = "bytes", type = Attribute.GAUGE)
  @Nullable Long getCgroupSwapBytes();

  @Attribute(
      value = "How often the cgroup reached high or max, ran out, or had a process killed",
      units = "events",
      type = Attribute.COUNTER)
  Map<String, Long> getCgroupEvents();

  @Attribute("What the configuration may come to need, line by line; empty if unknown")
  List<BudgetLine> getBudget();

  @Attribute("Whether the limit is large enough for the configuration; empty if unknown")
  String getBudgetVerdict();

  @Attribute("The last hour, oldest first: by the second, ten seconds, the minute")
  List<HistoryRow> getHistory();

  @Attribute("The file that the last hour is recorded in; empty if there is none")
  String getRecordPath();

  @Attribute("Why there is no such file although one was asked for; empty otherwise")
  String getRecordFailure();

  @Attribute("Whether native allocations are counted now")
  boolean isActive();

  @Attribute("ACTIVE, DISABLED or UNAVAILABLE")
  String getStatus();

  @Attribute("1 under the state that it is in, 0 under the others; for exporters of JMX")
  Map<String, Long> getStates();

  @Attribute("What counts, in one text for exporters: version, allocator, mode, accounting")
  String getIdentity();

  @Attribute("How the library came in, or why nothing is counted")
  String getReason();

  @Attribute("What to do if nothing is counted: a command or a setting")
  String getRemedy();

  @Attribute("Version of the native library")
  String getBuild();

  @Attribute("What serves the allocations below mallometer")
  String getAllocator();

  @Attribute("How the library came to count: preload, attached, relaunched or none")
  String getMode();

  @Attribute("When counting began: the start of the process, or the attach, ISO 8601; empty if not")
  String getSince();

  @Attribute("How the attach went, and what was allocated before; null without attach")
  @Nullable AttachmentFigures getAttachment();

  @Attribute(
      value = "Native memory that was in use when mallometer attached; null without attach",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getBaselineBytes();

  @Attribute("What one byte of allocated, freed and live means: usable, chunk or requested")
  String getByteUnit();

  @Attribute("What the library says about itself, such as what is off and why")
  String getRemark();

  @Attribute(
      value = "Time since the counters were read; grows if the poller is stuck",
      units = "seconds",
      type = Attribute.GAUGE)
  double getSnapshotAge();

  @Attribute(
      value =
          "Time of samples, and of reading, decoding and recording counters; counting is not in it",
      units = "seconds",
      type = Attribute.COUNTER)
  double getOverhead();

  @Attribute(
      value = "Memory that the native library has mapped, resident or not",
      units = "bytes",
      type = Attribute.GAUGE)
  @Nullable Long getFootprintBytes();

  @Attribute("Opens this MBean's bracket now; one that is open is dropped")
  void hook();

  @Attribute("Closes this MBean's bracket and returns what was counted in it; null if unknown")
  @Nullable Statistics unhook();

  @Attribute("What was counted in this MBean's bracket up to now; null if unknown")
  @Nullable Statistics statistics();
}
