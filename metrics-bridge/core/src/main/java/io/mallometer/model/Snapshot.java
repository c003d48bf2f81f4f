package io.mallometer.model;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The figures of one poll, which all outputs show until the next poll. Immutable.
 *
 * @param diagnosis the judgement on the process
 */
public record Snapshot(
    @Figure("When the counters were read") Instant time,
    @Figure("Whether mallometer counted at that time") Status status,
    @Figure(
            "What was counted in the whole process since it started; present exactly "
                + "while the status is active")
        Optional<NativeCounters> process,
    @Figure("What mallometer itself is and costs") SelfReport self,
    @Figure(
            "Where the memory of the process goes as the operating system sees it; known "
                + "with and without the native library")
        ProcessMemory memory,
    @Figure(
            "The latest statistics of the allocator below, some seconds older than the "
                + "rest; empty without the native library")
        Optional<AllocatorStatistics> allocator,
    @Figure("The latest requests above the huge threshold, oldest first; the " + "library keeps 64")
        List<HugeAllocation> hugeAllocations,
    @Figure(
            "Who holds most of the live memory, some seconds older than the rest; empty "
                + "if call sites are not recorded")
        Optional<SiteSummary> sites,
    @Figure(
            "Call sites by verdict, some seconds older than the rest; empty if the use of objects is not seen")
        Optional<LeakSummary> leaks,
    @Figure("Pools of other libraries, up to a minute older than the rest; empty if none was found")
        Optional<PoolReport> pools,
    Diagnosis diagnosis,
    @Figure("The version of the application, such as '2.3.1'; empty if it is not known")
        Optional<String> applicationVersion) {

  public Snapshot {
    hugeAllocations = List.copyOf(hugeAllocations);
  }

  /** Creates a snapshot that has only the counts of the library. */
  public Snapshot(Instant time, Status status, Optional<NativeCounters> process, SelfReport self) {
    this(time, status, process, self, List.of());
  }

  /** Creates a snapshot that has only the counts of the library and the huge requests. */
  public Snapshot(
      Instant time,
      Status status,
      Optional<NativeCounters> process,
      SelfReport self,
      List<HugeAllocation> hugeAllocations) {
    this(
        time,
        status,
        process,
        self,
        ProcessMemory.unknown(),
        Optional.empty(),
        hugeAllocations,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Diagnosis.none(time),
        Optional.empty());
  }

  /** Creates a snapshot of a process whose library cannot be read. */
  public static Snapshot absent(Instant time, Status status) {
    return new Snapshot(time, status, Optional.empty(), SelfReport.absent());
  }

  /** Returns this snapshot with the memory that the operating system reports. */
  public Snapshot with(ProcessMemory known) {
    return with(known, allocator, sites, leaks, pools, diagnosis, applicationVersion);
  }

  /** Returns this snapshot with the statistics of the allocator. */
  public Snapshot with(Optional<AllocatorStatistics> known) {
    return with(memory, known, sites, leaks, pools, diagnosis, applicationVersion);
  }

  /** Returns this snapshot with the largest libraries and call sites. */
  public Snapshot with(SiteSummary known) {
    return with(memory, allocator, Optional.of(known), leaks, pools, diagnosis, applicationVersion);
  }

  /** Returns this snapshot with the summary of the suspected call sites. */
  public Snapshot with(LeakSummary known) {
    return with(memory, allocator, sites, Optional.of(known), pools, diagnosis, applicationVersion);
  }

  /** Returns this snapshot with the memory pools of other libraries. */
  public Snapshot withPools(Optional<PoolReport> known) {
    return with(memory, allocator, sites, leaks, known, diagnosis, applicationVersion);
  }

  /** Returns this snapshot with the diagnosis on the process. */
  public Snapshot with(Diagnosis known) {
    return with(memory, allocator, sites, leaks, pools, known, applicationVersion);
  }

  /** Returns this snapshot with the version of the application. */
  public Snapshot withApplicationVersion(Optional<String> known) {
    return with(memory, allocator, sites, leaks, pools, diagnosis, known);
  }

  private Snapshot with(
      ProcessMemory memory,
      Optional<AllocatorStatistics> allocator,
      Optional<SiteSummary> sites,
      Optional<LeakSummary> leaks,
      Optional<PoolReport> pools,
      Diagnosis diagnosis,
      Optional<String> version) {
    return new Snapshot(
        time,
        status,
        process,
        self,
        memory,
        allocator,
        hugeAllocations,
        sites,
        leaks,
        pools,
        diagnosis,
        version);
  }

  /** Returns the time since the reading; zero if the clock was set back. */
  public Duration age(Clock clock) {
    Duration age = Duration.between(time, clock.instant());
    return age.isNegative() ? Duration.ZERO : age;
  }

  /**
   * Returns the {@link #age} in seconds; {@code NaN} if nothing was read from the library or the
   * operating system.
   */
  public double ageSeconds(Clock clock) {
    boolean nothing = status.state() == State.UNAVAILABLE && memory.equals(ProcessMemory.unknown());
    return nothing ? Double.NaN : age(clock).toNanos() / 1e9;
  }
}
