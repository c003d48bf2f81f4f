package io.mallometer.internal.engine;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.Neighbours;
import io.mallometer.internal.process.Pause;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSite;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PinnedMemory;
import io.mallometer.model.ProcessMemory;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Reads which call sites pin free memory: once a minute where glibc retains enough to matter, or as
 * seldom as keeps it under a thousandth of the time.
 */
final class PinReader {

  static final long PACE_NANOS = 60_000_000_000L;
  static final double LEAST_RETAINED = 16 << 20;

  private static final long LONGEST_NANOS = 3_600_000_000_000L;
  private static final Duration AGE_OF_SITES = Duration.ofSeconds(60);

  private final Interposer interposer;
  private final CallSiteReader sites;
  private final Clock clock;
  private final LongSupplier nanoTime;

  private volatile Optional<PinnedMemory> latest = Optional.empty();
  private boolean everRead;
  private long next;

  /** What was mapped singly at any time, as far as was seen. */
  private double mostMapped;

  PinReader(Interposer interposer, CallSiteReader sites, Clock clock, LongSupplier nanoTime) {
    this.interposer = interposer;
    this.sites = sites;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /** The statistics with what is known of pins. */
  AllocatorStatistics with(AllocatorStatistics statistics) {
    return statistics.withPinned(latest);
  }

  /** Reads if it is time. For the poller's thread, which lets the call sites go afterwards. */
  void readIfDue(Optional<AllocatorStatistics> allocator, ProcessMemory memory) {
    long start = nanoTime.getAsLong();
    if (allocator.isPresent()) {
      mostMapped = Math.max(mostMapped, allocator.get().mappedBytes());
    }
    if (allocator.isEmpty() || everRead && start - next < 0) {
      return;
    }
    AllocatorStatistics statistics = allocator.get();
    if (statistics.kind() != AllocatorKind.GLIBC
        || !(statistics.retainedBytes() >= LEAST_RETAINED)) {
      latest = Optional.empty();
      return;
    }
    everRead = true;
    List<Neighbours> neighbours = interposer.neighbours();
    double cost = (nanoTime.getAsLong() - start) / 1e9;
    List<CallSite> named = sites.notOlderThan(AGE_OF_SITES, 1).sites();
    latest =
        neighbours.isEmpty()
            ? Optional.empty()
            : Optional.of(
                PinnedBy.of(
                    neighbours,
                    named,
                    FreeMemory.of(statistics, AllocatorReader.retainedBytes(memory), peakBytes()),
                    clock.instant(),
                    start,
                    cost));
    long end = nanoTime.getAsLong();
    next = end + Pause.after(end - start, PACE_NANOS, LONGEST_NANOS);
  }

  private double peakBytes() {
    Optional<NativeCounters> counters = interposer.process();
    return counters.isPresent() ? counters.get().peakBytes() - mostMapped : Double.NaN;
  }
}
