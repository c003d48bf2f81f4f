package io.mallometer.model;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Figures that the allocator reports. Bytes; {@code NaN} where it does not say.
 *
 * <p>System memory is what it has from the operating system: used by the program, retained for
 * later requests, and its own overhead. All three are virtual. Pages of retained memory may or may
 * not be resident: glibc's retained memory stays what it was when a trim gives its pages back.
 *
 * @param time when it was read; that is done less often than the counters are read
 * @param kind whose statistics these are
 * @param arenas arenas that exist
 * @param systemBytes obtained from the system and not returned, singly mapped objects included
 * @param usedBytes in use by the program, the allocator's overhead for each object included
 * @param retainedBytes free and kept for later requests
 * @param mappedBytes objects that are mapped singly; part of used
 * @param releasableBytes part of retained: whole pages that a trim would give back, resident or not
 * @param residentBytes resident, in the allocator's own view
 * @param trimmableBytes resident pages that a trim would give back, at least: see {@link
 *     #withResident}
 * @param trims trims through the native library since the process started
 * @param byArena the arenas, at most the first {@value #MOST_ARENAS}, where the allocator tells
 * @param advice what could be done about memory that the allocator keeps; empty if all is well
 * @param costSeconds how long the reading took, with one arena after the other locked
 */
public record AllocatorStatistics(
    Instant time,
    AllocatorKind kind,
    double arenas,
    double systemBytes,
    double usedBytes,
    double retainedBytes,
    double mappedBytes,
    double releasableBytes,
    double residentBytes,
    double trimmableBytes,
    long trims,
    List<Arena> byArena,
    List<Advice> advice,
    double costSeconds) {

  /** The most arenas that {@link #byArena} holds. */
  public static final int MOST_ARENAS = 256;

  /**
   * One arena of glibc.
   *
   * @param number 0 is the main one
   * @param systemBytes obtained from the system and not returned
   * @param usedBytes in use
   * @param retainedBytes free
   * @param releasableBytes whole pages that a trim would give back, resident or not
   * @param topBytes free at the end; only the main arena gives that back
   */
  public record Arena(
      long number,
      long systemBytes,
      long usedBytes,
      long retainedBytes,
      long releasableBytes,
      long topBytes) {}

  public AllocatorStatistics {
    byArena = List.copyOf(byArena);
    advice = List.copyOf(advice);
  }

  /** Returns the seconds since the statistics were read; 0 if the clock was set back. */
  public double ageSeconds(Clock clock) {
    return Math.max(0, Duration.between(time, clock.instant()).toNanos() / 1e9);
  }

  /**
   * Returns these statistics with {@link #trimmableBytes}.
   *
   * <p>jemalloc and tcmalloc know which of their free pages are resident, so theirs is exact. glibc
   * forgets what it gave back. But no more of its releasable pages can be absent than are absent of
   * all its memory, which is system memory without what is resident of it: the rest is there to be
   * given back. So the figure is a lower bound. It falls short by live objects that the program has
   * not written to.
   *
   * @param mallocResidentBytes what is resident of the allocator's memory, in use or not; {@code
   *     NaN} if unknown
   */
  public AllocatorStatistics withResident(double mallocResidentBytes) {
    double absent =
        kind == AllocatorKind.GLIBC ? Math.max(0, systemBytes - mallocResidentBytes) : 0;
    return withTrimmable(Math.max(0, releasableBytes - absent));
  }

  /** Returns these statistics with {@link #trimmableBytes} as given. */
  public AllocatorStatistics withTrimmable(double trimmable) {
    return with(trimmable, advice);
  }

  /** Returns these statistics with {@link #advice}. */
  public AllocatorStatistics withAdvice(List<Advice> given) {
    return with(trimmableBytes, given);
  }

  private AllocatorStatistics with(double trimmable, List<Advice> given) {
    return new AllocatorStatistics(
        time,
        kind,
        arenas,
        systemBytes,
        usedBytes,
        retainedBytes,
        mappedBytes,
        releasableBytes,
        residentBytes,
        trimmable,
        trims,
        byArena,
        given,
        costSeconds);
  }
}
