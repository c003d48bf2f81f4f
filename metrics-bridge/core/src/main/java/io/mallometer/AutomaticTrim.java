package io.mallometer;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Trims at an interval, where it is worth while, on a thread of its own: a trim may take seconds,
 * for which no poll waits.
 */
final class AutomaticTrim implements Mallometer.Subscription {

  static final String THREAD = "mallometer-trim";

  private static final Logger LOGGER = System.getLogger(Mallometer.class.getName());

  private final Mallometer mallometer;
  private final Duration interval;
  private final double leastShare;

  /** Guarded by this. */
  private @Nullable Thread thread;

  AutomaticTrim(Mallometer mallometer, Duration interval, double leastShare) {
    this.mallometer = mallometer;
    this.interval = interval;
    this.leastShare = leastShare;
  }

  synchronized void start() {
    Thread started = new Thread(null, this::run, THREAD, 0, false);
    started.setDaemon(true);
    started.setContextClassLoader(AutomaticTrim.class.getClassLoader());
    try {
      started.start();
      thread = started;
    } catch (OutOfMemoryError e) {
      LOGGER.log(Level.WARNING, "Nothing is trimmed: no thread is left", e);
    }
  }

  @Override
  public synchronized void close() {
    thread = null;
    notifyAll();
  }

  private void run() {
    boolean failed = false;
    while (awaitNext()) {
      try {
        trimIfWorthWhile();
      } catch (Throwable e) {
        if (!failed) {
          failed = true;
          LOGGER.log(Level.WARNING, "A trim failed; others will be tried", e);
        }
      }
    }
  }

  private void trimIfWorthWhile() {
    if (worthWhile(mallometer.snapshot(), leastShare)) {
      TrimReport report = mallometer.trim();
      if (report.outcome() == TrimReport.Outcome.DONE) {
        LOGGER.log(Level.INFO, "Trimmed the allocator: {0}", report.explanation());
      }
    }
  }

  /**
   * Whether a trim would give back at least a share of the resident set; false where that is
   * unknown.
   */
  static boolean worthWhile(Snapshot snapshot, double leastShare) {
    double trimmable =
        snapshot.allocator().map(AllocatorStatistics::trimmableBytes).orElse(Double.NaN);
    return trimmable > 0 && trimmable >= leastShare * snapshot.memory().residentBytes();
  }

  /** Sleeps for one interval. Returns false when this is closed. */
  private synchronized boolean awaitNext() {
    long start = System.nanoTime();
    while (thread == Thread.currentThread()) {
      long remaining = interval.toNanos() - (System.nanoTime() - start);
      if (remaining <= 0) {
        return true;
      }
      try {
        wait(remaining / 1_000_000, (int) (remaining % 1_000_000));
      } catch (InterruptedException e) {
        // Only close() ends this thread.
        continue;
      }
    }
    return false;
  }
}
