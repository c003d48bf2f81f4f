package io.mallometer;

import io.mallometer.internal.engine.Engine;
import io.mallometer.internal.engine.Sources;
import io.mallometer.internal.library.FakeLibrary;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PoolReport;
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
 * A fake {@link Mallometer} for tests of code that takes one. It needs no library: the test sets
 * the counts and the time.
 *
 * <pre>{@code
 * try (FakeMallometer mallometer = new FakeMallometer()) {
 *   mallometer.setStatus(new Status(State.DISABLED, "switched off", "switch it on"));
 *   mallometer.poll();
 *   assertEquals("switched off", new MyPanel(mallometer).text());
 * }
 * }</pre>
 *
 * <p>No thread polls, so a value that the test sets appears after the next {@link #poll()}.
 * Verdicts, histories and the diagnosis are computed as in the real class. Thread-safe.
 */
public final class FakeMallometer extends Mallometer {

  private static final Duration NEVER = Duration.ofDays(1);

  private static final ThreadFactory NO_THREAD = work -> new Thread(() -> {});

  private final FakeLibrary library;
  private final Engine engine;

  /** Creates a fake that has counted nothing yet. */
  public FakeMallometer() {
    this(
        new NativeCounters(
            SizeDistribution.of(sizeClass -> 0), 0, 0, 0, 0, 0, 0, 0, Double.NaN, 0, 1, true),
        SelfReport.absent());
  }

  /** Creates a fake with these counters and this report of the library. */
  public FakeMallometer(NativeCounters counters, SelfReport self) {
    this(new FakeLibrary(counters, self));
  }

  FakeMallometer(FakeLibrary library) {
    this(
        library,
        new Engine(
            Sources.of(
                library, MemorySource.none(), library.clock(), library::nanoTime, NO_THREAD)));
  }

  private FakeMallometer(FakeLibrary library, Engine engine) {
    super(
        engine,
        Optional.of(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, NEVER)
                .with(Setting.OWNERS_MAX_PAUSE, NEVER)
                .with(Setting.OWNERS_MAX_TOTAL_PAUSE, NEVER)));
    this.library = library;
    this.engine = engine;
  }

  /** Sets whether the library counts. */
  public void setStatus(Status status) {
    library.setStatus(status);
  }

  /** Sets the counts of the library. */
  public void setCounters(NativeCounters counters) {
    library.setCounters(counters);
  }

  /** Sets the library's report of its version, mode and cost. */
  public void setSelf(SelfReport self) {
    library.setSelfReport(self);
  }

  /** Sets the memory that the operating system reports. */
  public void setMemory(ProcessMemory memory) {
    library.setMemory(memory);
  }

  /** Sets the version of the application. */
  public void setApplicationVersion(String version) {
    library.setApplicationVersion(version);
  }

  /** Sets the statistics of the allocator. */
  public void setAllocator(AllocatorStatistics statistics) {
    library.setAllocator(statistics);
  }

  /** Sets the memory pools of other libraries. */
  public void setPools(PoolReport pools) {
    library.pools(pools);
  }

  /** Sets the call sites that the next reading returns. */
  public void setSites(CallSites sites) {
    library.setCallSites(sites);
  }

  /**
   * Polls, and stores the call sites if the live bytes have reached a new peak, as the background
   * thread of a real {@link Mallometer} does.
   */
  public void keepPeak() {
    engine.profiles().published(engine.poller().poll());
  }

  /** Sets the latest huge allocations. */
  public void setHugeAllocations(List<HugeAllocation> allocations) {
    library.setHugeAllocations(allocations);
  }

  /** Publishes verdicts on call sites immediately. */
  public void setLeaks(LeakReport report) {
    engine.leaks().publish(report);
  }

  /** Moves {@link #clock()} forward. */
  public void advance(Duration duration) {
    library.advanceClock(duration);
  }

  /** Returns the number of trims. */
  public int trims() {
    return library.trims();
  }

  Engine engine() {
    return engine;
  }
}
