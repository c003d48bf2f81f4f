package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Figures that the allocator reports, in bytes. A figure that it does not report is {@code NaN}.
 *
 * <p>System memory is what the allocator obtained from the operating system: memory that the
 * program uses, memory retained for later requests, and overhead. These are sizes of virtual
 * memory, and retained memory need not be resident. For example, a trim of glibc returns pages to
 * the system, but glibc still counts them as retained.
 */
public record AllocatorStatistics(
    @Figure("When the statistics of the allocator were read, less often than the counters")
        Instant time,
    @Figure("Whose statistics these are") AllocatorKind kind,
    @Figure(
            value = "Arenas of the allocator",
            unit = COUNT,
            meter = "native.allocator.arenas",
            attribute = "Arenas")
        double arenas,
    @Figure(
            value =
                "Memory that the allocator has from the operating system, singly mapped objects included",
            unit = BYTES,
            meter = "native.allocator.system",
            attribute = "SystemBytes")
        double systemBytes,
    @Figure(
            value = "Memory of live objects in the allocator, with its overhead for each object",
            unit = BYTES,
            meter = "native.allocator.used",
            attribute = "UsedBytes")
        double usedBytes,
    @Figure(
            value = "Free memory that the allocator retains, resident or not",
            unit = BYTES,
            meter = "native.allocator.retained",
            attribute = "RetainedBytes")
        double retainedBytes,
    @Figure(
            value = "Objects that have a mapping of their own; part of used",
            unit = BYTES,
            attribute = "MappedBytes")
        double mappedBytes,
    @Figure(
            value = "Part of retained: whole pages that a trim would return, resident or not",
            unit = BYTES,
            attribute = "ReleasableBytes")
        double releasableBytes,
    @Figure(
            value = "Resident memory as the allocator reports it",
            unit = BYTES,
            attribute = "ResidentBytes")
        double residentBytes,
    @Figure(
            value = "Lower bound of the resident memory that a trim would return",
            unit = BYTES,
            meter = "native.allocator.trimmable",
            attribute = "TrimmableBytes")
        double trimmableBytes,
    @Figure(
            value = "Trims of the allocator by mallometer",
            unit = COUNT,
            grows = true,
            meter = "native.allocator.trims",
            attribute = "Trims")
        long trims,
    @Figure("The arenas, at most the first 256, if the allocator reports them") List<Arena> byArena,
    @Figure("What could be done about memory that the allocator keeps; empty if all is " + "well")
        List<Advice> advice,
    @Figure(
            value = "How long the reading took, with one arena after the other locked",
            unit = SECONDS)
        double costSeconds) {

  /** The most arenas that {@link #byArena} holds. */
  public static final int MOST_ARENAS = 256;

  /** An arena of glibc. */
  public record Arena(
      @Figure("0 is the main one") long number,
      @Figure(value = "Obtained from the system and not returned", unit = BYTES) long systemBytes,
      @Figure(value = "In use", unit = BYTES) long usedBytes,
      @Figure(value = "Free", unit = BYTES) long retainedBytes,
      @Figure(value = "Whole pages that a trim would give back, resident or not", unit = BYTES)
          long releasableBytes,
      @Figure(
              value = "Free bytes at the end of the arena; only the main arena gives these back",
              unit = BYTES)
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
   * Returns these statistics with a value for {@link #trimmableBytes}.
   *
   * <p>The value is exact for jemalloc and tcmalloc. For glibc it is a lower bound: glibc does not
   * record which free pages it returned to the system. Therefore every page that is not resident
   * counts as returned.
   *
   * @param mallocResidentBytes the resident memory of the allocator; {@code NaN} if unknown
   */
  public AllocatorStatistics withResident(double mallocResidentBytes) {
    double absent =
        kind == AllocatorKind.GLIBC ? Math.max(0, systemBytes - mallocResidentBytes) : 0;
    return withTrimmable(Math.max(0, releasableBytes - absent));
  }

  /** Returns these statistics with other {@link #trimmableBytes}. */
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
