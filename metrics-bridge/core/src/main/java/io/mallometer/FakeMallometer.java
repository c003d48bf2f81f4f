package io.mallometer;

import io.mallometer.internal.engine.HandFedInterposer;
import io.mallometer.internal.engine.Poller;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Status;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/**
 * A facade for tests of code that takes a {@link Mallometer}. It returns the counts that the test
 * sets, at the time that the test sets, without a library.
 *
 * <pre>{@code
 * try (FakeMallometer mallometer = new FakeMallometer()) {
 *   mallometer.setStatus(new Status(State.DISABLED, "switched off", "switch it on"));
 *   mallometer.poll();
 *   assertEquals("switched off", new MyPanel(mallometer).text());
 * }
 * }</pre>
 *
 * <p>What is set is in the next snapshot, that is after {@link #poll()}: nothing else polls.
 * Verdicts, histories and the diagnosis are drawn as in the real facade. Thread-safe.
 */
public final class FakeMallometer extends PolledMallometer {

  /** Longer than any test. */
  private static final Duration NEVER = Duration.ofDays(1);

  private static final ThreadFactory NO_THREAD = work -> new Thread(() -> {});

  private final HandFedInterposer library;
  private final Poller poller;

  /** Creates a facade that has counted nothing yet. */
  public FakeMallometer() {
    this(
        new NativeCounters(
            SizeDistribution.of(sizeClass -> 0), 0, 0, 0, 0, 0, 0, 0, Double.NaN, 0, 1, true),
        SelfReport.absent());
  }

  /** Creates a facade with these counters and this report of the library. */
  public FakeMallometer(NativeCounters counters, SelfReport self) {
    this(new HandFedInterposer(counters, self));
  }

  FakeMallometer(HandFedInterposer library) {
    this(
        library,
        new Poller(library, MemorySource.none(), library.clock(), library::nanoTime, NO_THREAD));
  }

  private FakeMallometer(HandFedInterposer library, Poller poller) {
    super(
        poller,
        Optional.of(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, NEVER)
                .with(Setting.OWNERS_MAX_PAUSE, NEVER)
                .with(Setting.OWNERS_MAX_TOTAL_PAUSE, NEVER)));
    this.library = library;
    this.poller = poller;
  }

  /** Sets whether the library counts. */
  public void setStatus(Status status) {
    library.becomes(status);
  }

  /** Sets the counts of the library. */
  public void setCounters(NativeCounters counters) {
    library.counts(counters);
  }

  /** Sets the report of the library on itself. */
  public void setSelf(SelfReport self) {
    library.reports(self);
  }

  /** Sets the memory figures of the operating system. */
  public void setMemory(ProcessMemory memory) {
    library.remembers(memory);
  }

  /** Sets the version of the application. */
  public void setApplicationVersion(String version) {
    library.isOfVersion(version);
  }

  /** Sets the figures of the allocator. */
  public void setAllocator(AllocatorStatistics statistics) {
    library.says(statistics);
  }

  /** Sets the call sites that are read next. */
  public void setSites(CallSites sites) {
    library.knows(sites);
  }

  /**
   * Polls, and keeps the call sites if live bytes are at their peak, as the poller's thread does.
   */
  public void keepPeak() {
    poller.profileKeeper().observe(poller.poll());
  }

  /** Sets the latest huge allocations. */
  public void setHugeAllocations(List<HugeAllocation> allocations) {
    library.notes(allocations);
  }

  /** Publishes verdicts at once. */
  public void setLeaks(LeakReport report) {
    poller.leakWatch().publish(report);
  }

  /** Moves {@link #clock()} forward, and runs everything that is due by then. */
  public void advance(Duration duration) {
    library.elapse(duration);
  }

  /** Returns how often the allocator was trimmed. */
  public int trims() {
    return library.trims();
  }

  /** The library itself, for tests of this package. */
  HandFedInterposer library() {
    return library;
  }

  Poller poller() {
    return poller;
  }
}
