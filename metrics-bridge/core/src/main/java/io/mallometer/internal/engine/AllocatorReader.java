package io.mallometer.internal.engine;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.AllocatorAdvice;
import io.mallometer.internal.process.Pause;
import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads the allocator's statistics, less often if they are expensive.
 *
 * <p>glibc locks each arena while it walks the arena's free chunks, at 150 ns for each chunk, and
 * threads that allocate from the arena wait. The statistics are therefore read every 15 s, or less
 * often if this would take more than a thousandth of the time. After a reading that takes longer
 * than a tenth of a second, the next one comes an hour later.
 *
 * <p>The trimmable bytes are computed from the statistics and a split of the resident set into its
 * parts. Both must be of the same moment, so the statistics are also read with each split.
 */
public final class AllocatorReader implements SnapshotReader {

  static final long PACE_NANOS = 15_000_000_000L;
  static final long LONGEST_NANOS = 3_600_000_000_000L;

  private static final long LONG_READING_NANOS = 100_000_000L;

  private final NativeLibrary library;
  private final BooleanSupplier trims;
  private final Clock clock;
  private final LongSupplier nanoTime;

  private volatile Optional<AllocatorStatistics> latest = Optional.empty();
  private @Nullable ResidentMemory seen;
  private boolean everRead;
  private long nextByPace;
  private long nextByCost;

  public AllocatorReader(
      NativeLibrary library, BooleanSupplier trims, Clock clock, LongSupplier nanoTime) {
    this.library = library;
    this.trims = trims;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  public Optional<AllocatorStatistics> latest() {
    return latest;
  }

  @Override
  public String failure() {
    return "The allocator's statistics cannot be read; the last reading stays";
  }

  /** Skips the reading during a trim, which holds the allocator's locks. */
  @Override
  public void read(Snapshot soFar) {
    if (!trims.getAsBoolean()) {
      read(soFar.memory());
    }
  }

  @Override
  public Snapshot show(Snapshot snapshot) {
    Optional<AllocatorStatistics> known = latest;
    return known.isPresent() ? snapshot.with(known) : snapshot;
  }

  @Override
  public boolean renew() {
    return true;
  }

  /**
   * Reads the statistics if the cost allows it, and either the interval is over or the resident set
   * was split into its parts again.
   */
  synchronized void read(ProcessMemory memory) {
    ResidentMemory split = memory.resident().orElse(null);
    boolean fresh = split != null && split != seen;
    seen = split;
    long now = nanoTime.getAsLong();
    boolean affordable = !everRead || now - nextByCost >= 0;
    if (affordable && (fresh || !everRead || now - nextByPace >= 0)) {
      read(statistics -> fresh ? compare(statistics, memory) : carryOver(statistics));
    }
  }

  /** Reads the statistics after a trim, whatever that costs. */
  synchronized void readAfterTrim() {
    read(statistics -> statistics.withResident(Double.NaN).withAdvice(latestAdvice()));
  }

  private List<Advice> latestAdvice() {
    return latest.isPresent() ? latest.get().advice() : List.of();
  }

  private void read(UnaryOperator<AllocatorStatistics> conclude) {
    long start = nanoTime.getAsLong();
    Optional<AllocatorStatistics> read = library.allocator(clock.instant());
    long end = nanoTime.getAsLong();
    everRead = true;
    nextByPace = end + PACE_NANOS;
    nextByCost = end + rest(end - start);
    latest = read.map(conclude);
  }

  static long rest(long cost) {
    return cost > LONG_READING_NANOS ? LONGEST_NANOS : Pause.after(cost, 0, LONGEST_NANOS);
  }

  private AllocatorStatistics carryOver(AllocatorStatistics statistics) {
    double before = latest.isPresent() ? latest.get().trimmableBytes() : Double.NaN;
    return statistics
        .withTrimmable(
            statistics.kind() == AllocatorKind.GLIBC
                ? Math.min(before, statistics.releasableBytes())
                : statistics.releasableBytes())
        .withAdvice(latestAdvice());
  }

  private AllocatorStatistics compare(AllocatorStatistics statistics, ProcessMemory memory) {
    Optional<NativeCounters> counters = library.process();
    double live = counters.isPresent() ? counters.get().liveBytes() : Double.NaN;
    double retained = retainedBytes(memory);
    AllocatorStatistics compared = statistics.withResident(live + retained);
    return compared.withAdvice(
        AllocatorAdvice.of(
            new AllocatorAdvice.Situation(
                compared,
                retained,
                memory.residentBytes(),
                memory.setLimit().bytes(),
                Runtime.getRuntime().availableProcessors(),
                System.getenv())));
  }

  static double retainedBytes(ProcessMemory memory) {
    Optional<Long> retained =
        memory.resident().isPresent()
            ? memory.resident().get().of(ResidentPart.MALLOC_RETAINED)
            : Optional.empty();
    return retained.isPresent() ? retained.get() : Double.NaN;
  }
}
