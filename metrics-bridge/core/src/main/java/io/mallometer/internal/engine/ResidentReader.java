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
 * Reads the resident set by the code that asked for it, on request only. A reading takes some ten
 * milliseconds, so a request gets the latest one for a thousand times as long as that took, at most
 * half a minute.
 */
public final class ResidentReader {

  private static final long FRESH_NANOS = 1_000_000_000L;
  private static final long LONGEST_NANOS = 30_000_000_000L;

  private final MemorySource memory;
  private final NativeLibrary library;
  private final SiteReadings sites;
  private final Clock clock;
  private final LongSupplier nanoTime;

  /** The latest reading. Guarded by this, like the field below. */
  private Optional<ResidentStacks> latest = Optional.empty();

  private long next;

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
    if (latest.isEmpty() || nanoTime.getAsLong() - next >= 0) {
      long begin = nanoTime.getAsLong();
      latest = readAnew();
      long end = nanoTime.getAsLong();
      next = end + Pause.after(end - begin, FRESH_NANOS, LONGEST_NANOS);
    }
    return latest.orElseGet(
        () ->
            new ResidentStacks(
                clock.instant(),
                0,
                List.of(),
                "the resident set cannot be read: /proc/self/smaps is missing"));
  }

  private Optional<ResidentStacks> readAnew() {
    CallSites read = sites.callSites();
    return memory.origins(library.read(clock.instant()), library.mappedRanges(), read);
  }
}
