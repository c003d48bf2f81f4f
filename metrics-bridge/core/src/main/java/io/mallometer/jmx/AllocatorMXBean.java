package io.mallometer.jmx;

import org.jspecify.annotations.Nullable;

/**
 * The allocator that serves malloc: its latest statistics, advice, and trims.
 *
 * <p>What is unknown is null, which JConsole shows as an empty value: everything without the native
 * library, and each figure that this allocator does not tell.
 *
 * <p>Each huge request is sent as a notification of type {@value #HUGE_ALLOCATION}.
 */
public interface AllocatorMXBean extends Described.OfAllocator, Described.OfEach {

  /**
   * The type of the notifications. Their sequence number is the request's number, the time stamp
   * the request's time, and the user data composite data of {@code number}, {@code time}, {@code
   * bytes}, {@code threadId}, {@code threadName} as in {@code LargeAllocations}, and {@code
   * missedBefore}: how many requests between this one and the one before are not known any more.
   */
  String HUGE_ALLOCATION = "io.mallometer.allocation.large";

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
   * What is published with the allocator's kind, as composite data. Null if unknown.
   *
   * @param arenas number of arenas
   * @param systemBytes obtained from the system
   * @param usedBytes in use
   * @param retainedBytes free
   * @param trimmableBytes resident, and a trim would give it back, at least
   * @param trims number of trims by mallometer
   */
  record Figures(
      @Nullable Long arenas,
      @Nullable Long systemBytes,
      @Nullable Long usedBytes,
      @Nullable Long retainedBytes,
      @Nullable Long trimmableBytes,
      @Nullable Long trims) {}
}
