package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

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
 */
public record AllocatorStatistics(
    @Figure("When it was read; that is done less often than the counters are read") Instant time,
    @Figure("Whose statistics these are") AllocatorKind kind,
    @Figure(value = "Arenas that exist", unit = COUNT) double arenas,
    @Figure(
            value = "Obtained from the system and not returned, singly mapped objects included",
            unit = BYTES)
        double systemBytes,
    @Figure(
            value = "In use by the program, the allocator's overhead for each object included",
            unit = BYTES)
        double usedBytes,
    @Figure(value = "Free and kept for later requests", unit = BYTES) double retainedBytes,
    @Figure(value = "Objects that are mapped singly; part of used", unit = BYTES)
        double mappedBytes,
    @Figure(
            value = "Part of retained: whole pages that a trim would give back, resident or not",
            unit = BYTES)
        double releasableBytes,
    @Figure(value = "Resident, in the allocator's own view", unit = BYTES) double residentBytes,
    @Figure(value = "Resident pages that a trim would give back, at least", unit = BYTES)
        double trimmableBytes,
    @Figure(value = "Trims through the native library since the process started", unit = COUNT)
        long trims,
    @Figure("The arenas, at most the first 256, where the allocator tells") List<Arena> byArena,
    @Figure("What could be done about memory that the allocator keeps; empty if all is " + "well")
        List<Advice> advice,
    @Figure(
            value = "How long the reading took, with one arena after the other locked",
            unit = SECONDS)
        double costSeconds) {

  /** The most arenas that {@link #byArena} holds. */
  public static final int MOST_ARENAS = 256;

  /** One arena of glibc. */
  public record Arena(
      @Figure("0 is the main one") long number,
      @Figure(value = "Obtained from the system and not returned", unit = BYTES) long systemBytes,
      @Figure(value = "In use", unit = BYTES) long usedBytes,
      @Figure(value = "Free", unit = BYTES) long retainedBytes,
      @Figure(value = "Whole pages that a trim would give back, resident or not", unit = BYTES)
          long releasableBytes,
      @Figure(value = "Free at the end; only the main arena gives that back", unit = BYTES)
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
