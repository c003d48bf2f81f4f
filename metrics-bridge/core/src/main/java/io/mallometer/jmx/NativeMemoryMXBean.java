package io.mallometer.jmx;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Native memory of the process as of the latest poll.
 *
 * <p>An unknown value is null, which JConsole shows as an empty value. Counts are unknown while the
 * library does not count. Live and peak values are also unknown after an interruption of counting,
 * and after an attach that could not determine the live bytes.
 *
 * <p>The operations of this MBean start and stop a single measurement, which all clients share.
 */
public interface NativeMemoryMXBean extends Described.OfNativeMemory, Described.OfEach {

  /**
   * The type of the notification that is sent when a monitor of mallometer reports an event. The
   * user data contains {@code monitor}, {@code time}, {@code bytes} and {@code details}. The
   * details are the lines of a stack or of call sites.
   */
  String MONITOR = "io.mallometer.monitor";

  @Nullable Long getAllocationCount();

  @Nullable Long getRequestedBytes();

  @Nullable Long getAllocatedBytes();

  @Nullable Long getFreedBytes();

  @Nullable Long getFreeCount();

  @Nullable Long getFailedAllocationCount();

  @Nullable Long getLiveBytes();

  @Nullable Long getPeakBytes();

  @Nullable Long getBaselineBytes();

  @Nullable Long getLargestRequestBytes();

  @Nullable Long getLiveObjects();

  @Nullable Long getHugeAllocationCount();

  @Nullable Long getPoolSizeBytes();

  @Nullable Long getPoolUsedBytes();

  Map<String, Long> getResidentParts();

  @Nullable Long getThpBytes();

  Map<String, Long> getCgroupParts();

  @Nullable Long getCgroupLimitBytes();

  @Nullable Long getCgroupHighBytes();

  @Nullable Long getCgroupWorkingSetBytes();

  @Nullable Long getCgroupSwapBytes();

  Map<String, Long> getCgroupEvents();

  Map<String, Long> getDiagnosisStates();

  Map<String, Long> getTimeToLimitSeconds();

  Map<String, Long> getPreviousExitTimestampSeconds();

  @Nullable Double getSnapshotAge();

  @Nullable Double getOverhead();

  @Nullable Long getFootprintBytes();

  @Nullable Long getSmallAllocationCount();

  @Nullable Long getLargeAllocationCount();

  Map<String, Long> getAllocationsUpTo();

  @Nullable Long getPeakErrorBytes();

  @Nullable Long getThreads();

  @Nullable Long getResidentBytes();
}
