package io.mallometer.internal.monitor;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.model.TrimReport;
import io.mallometer.model.TrimReport.Outcome;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Makes the allocator return free memory to the kernel (a trim). Refuses a request during a trim or
 * too soon after one, because a trim holds the locks that every malloc needs. A trim runs on the
 * requesting thread, so no poll waits.
 */
public final class Trimmer {

  private final NativeLibrary library;
  private final Supplier<OptionalLong> residentBytes;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final ReentrantLock running = new ReentrantLock();

  /** When the latest trim began; guarded by {@link #running}. */
  private OptionalLong latest = OptionalLong.empty();

  public Trimmer(
      NativeLibrary library,
      Supplier<OptionalLong> residentBytes,
      Clock clock,
      LongSupplier nanoTime) {
    this.library = library;
    this.residentBytes = residentBytes;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  public boolean running() {
    return running.isLocked();
  }

  public TrimReport trim(Duration pause) {
    if (!running.tryLock()) {
      return withoutTrim(Outcome.REFUSED, "another trim is running", Optional.empty());
    }
    try {
      long now = nanoTime.getAsLong();
      long wait = latest.isPresent() ? pause.toNanos() - (now - latest.getAsLong()) : 0;
      return wait > 0 ? refuse(pause, Duration.ofNanos(wait)) : trimAt(now, pause);
    } finally {
      running.unlock();
    }
  }

  private TrimReport refuse(Duration pause, Duration wait) {
    Instant next = clock.instant().plus(wait);
    return withoutTrim(
        Outcome.REFUSED,
        "the latest trim was less than %d s ago; the next is possible in %d s"
            .formatted(pause.toSeconds(), (wait.toMillis() + 999) / 1000),
        Optional.of(next));
  }

  private TrimReport trimAt(long now, Duration pause) {
    double before = resident();
    if (!library.trim()) {
      return withoutTrim(Outcome.UNSUPPORTED, "no allocator that can be trimmed", Optional.empty());
    }
    latest = OptionalLong.of(now);
    double seconds = (nanoTime.getAsLong() - now) / 1e9;
    double after = resident();
    Instant ended = clock.instant();
    return new TrimReport(
        Outcome.DONE,
        explanation(before, after, seconds),
        ended,
        before,
        after,
        seconds,
        Optional.of(ended.plus(pause)));
  }

  private TrimReport withoutTrim(Outcome outcome, String explanation, Optional<Instant> next) {
    return new TrimReport(
        outcome, explanation, clock.instant(), Double.NaN, Double.NaN, Double.NaN, next);
  }

  private static String explanation(double before, double after, double seconds) {
    return Double.isNaN(before - after)
        ? String.format(Locale.ROOT, "trimmed in %.3f s", seconds)
        : String.format(
            Locale.ROOT,
            "the resident set went from %.1f to %.1f MiB in %.3f s",
            before / (1 << 20),
            after / (1 << 20),
            seconds);
  }

  private double resident() {
    OptionalLong resident = residentBytes.get();
    return resident.isPresent() ? resident.getAsLong() : Double.NaN;
  }
}
