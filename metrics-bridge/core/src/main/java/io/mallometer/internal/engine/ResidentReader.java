package io.mallometer.internal.engine;

import io.mallometer.internal.history.SiteReadings;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.process.Pause;
import io.mallometer.model.CallSites;
import io.mallometer.model.ResidentStacks;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Reads the resident set by the code that asked for it, on request only. A request gets the latest
 * reading where a new one would take more than a thousandth of a processor by its own CPU time,
 * counted over all readings so far; two readings may be ahead of that.
 */
public final class ResidentReader {

  private static final long FRESH_NANOS = 1_000_000_000L;
  private static final long LONGEST_NANOS = 3_600_000_000_000L;
  private static final int AHEAD = 2;

  private final MemorySource memory;
  private final NativeLibrary library;
  private final SiteReadings sites;
  private final Clock clock;
  private final LongSupplier nanoTime;

  /** The latest reading. Guarded by this, like the fields below. */
  private Optional<ResidentStacks> latest = Optional.empty();

  private boolean hasRead;
  private long readAt;

  /** When the readings so far have taken their share of the time. */
  private long paidAt;

  private long pause;

  ResidentReader(
      MemorySource memory,
      NativeLibrary library,
      SiteReadings sites,
      Clock clock,
      LongSupplier nanoTime) {
    this.memory = memory;
    this.library = library;
    this.sites = sites;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /** Returns a reading; one without stacks has the reason. */
  public synchronized ResidentStacks read() {
    if (isDue(nanoTime.getAsLong())) {
      long begin = Pause.processorNanos();
      try {
        latest = readAnew();
      } finally {
        long cost = hasRead ? Pause.processorNanos() - begin : 0; // the first loads classes
        readAt = nanoTime.getAsLong();
        pause = Pause.after(cost, FRESH_NANOS, LONGEST_NANOS);
        paidAt = (hasRead ? Math.max(paidAt, readAt) : readAt) + pause;
        hasRead = true;
      }
    }
    return latest.orElseGet(
        () ->
            new ResidentStacks(
                clock.instant(),
                0,
                List.of(),
                "the resident set cannot be read: /proc/self/smaps is missing"));
  }

  private boolean isDue(long now) {
    return !hasRead || (now - readAt >= FRESH_NANOS && paidAt - now <= AHEAD * pause);
  }

  private Optional<ResidentStacks> readAnew() {
    CallSites read = sites.callSites();
    return memory.origins(library.read(clock.instant()), library.mappedRanges(), read);
  }
}
