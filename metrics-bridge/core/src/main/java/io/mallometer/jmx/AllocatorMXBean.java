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
public interface AllocatorMXBean extends Described.OfAllocator {

  /**
   * The type of the notifications. Their sequence number is the request's number, the time stamp
   * the request's time, and the user data composite data of {@code number}, {@code time}, {@code
   * bytes}, {@code threadId}, {@code threadName} as in {@link LargeRequest}, and {@code
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

  /**
   * One arena, as composite data. Bytes.
   *
   * @param number 0 is the main one
   * @param systemBytes obtained from the system
   * @param usedBytes in use
   * @param retainedBytes free
   * @param releasableBytes whole pages that a trim would give back, resident or not
   * @param topBytes free at the end
   */
  record Arena(
      long number,
      long systemBytes,
      long usedBytes,
      long retainedBytes,
      long releasableBytes,
      long topBytes) {}

  /**
   * One piece of advice, as composite data.
   *
   * @param topic what it is about
   * @param reason what was found, in words and numbers
   * @param setting what to set, literally
   */
  record AdviceLine(String topic, String reason, String setting) {}

  /**
   * One huge request, as composite data.
   *
   * @param number 1 for the process's first
   * @param time ISO 8601
   * @param bytes what was asked for
   * @param threadId the kernel's number of the thread
   * @param threadName the kernel's name of the thread, at most 15 bytes
   */
  record LargeRequest(long number, String time, long bytes, int threadId, String threadName) {}
}
