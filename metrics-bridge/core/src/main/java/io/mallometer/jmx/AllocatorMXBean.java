package io.mallometer.jmx;

import org.jspecify.annotations.Nullable;

/**
 * The allocator that serves malloc: its latest statistics, advice, and trims.
 *
 * <p>An unknown value is null, which JConsole shows as an empty value. All values are unknown
 * without the native library. Values that this allocator does not report are always unknown.
 *
 * <p>Each huge request is sent as a notification of type {@value #HUGE_ALLOCATION}.
 */
public interface AllocatorMXBean extends Described.OfAllocator, Described.OfEach {

  /**
   * The type of the notification of a huge request. Its sequence number is the number of the
   * request, and its time stamp is the time of the request. The user data is composite data with
   * {@code number}, {@code time}, {@code bytes}, {@code threadId}, {@code threadName} and {@code
   * missedBefore}. {@code missedBefore} is the number of huge requests since the previous
   * notification that were lost, because the library stores only the latest 64.
   */
  String HUGE_ALLOCATION = "io.mallometer.allocation.huge";

  @Nullable Long getSystemBytes();

  @Nullable Long getUsedBytes();

  @Nullable Long getRetainedBytes();

  @Nullable Long getTrimmableBytes();

  @Nullable Long getArenas();

  @Nullable Long getTrims();

  @Nullable Long getMappedBytes();

  @Nullable Long getReleasableBytes();

  @Nullable Long getResidentBytes();

  @Nullable Double getStatisticsAge();

  /**
   * Statistics of one kind of allocator, published as composite data. An unknown value is null.
   *
   * @param arenas the number of arenas
   * @param systemBytes bytes obtained from the system
   * @param usedBytes bytes in use
   * @param retainedBytes free bytes
   * @param trimmableBytes a lower bound of the resident bytes that a trim would return
   * @param trims the number of trims by mallometer
   */
  record Figures(
      @Nullable Long arenas,
      @Nullable Long systemBytes,
      @Nullable Long usedBytes,
      @Nullable Long retainedBytes,
      @Nullable Long trimmableBytes,
      @Nullable Long trims) {}
}
