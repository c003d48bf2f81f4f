package io.mallometer.internal.monitor;

import io.mallometer.internal.text.Log;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Snapshot;
import io.mallometer.model.TrimReport;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the allocator return free memory to the kernel (trims) at an interval, if it would return
 * enough. Uses a thread of its own, because a trim may take seconds.
 */
public final class AutomaticTrim implements AutoCloseable {

  static final String THREAD = "mallometer-trim";

  private final Supplier<Snapshot> snapshots;
  private final Supplier<TrimReport> trims;
  private final Duration interval;
  private final double leastShare;

  /** Null while no thread trims. Guarded by this. */
  private @Nullable Thread thread;

  /**
   * Creates an automatic trim, which does nothing before {@link #start()}.
   *
   * @param leastShare the share of the resident set that a trim must return, 0 to 1
   */
  public AutomaticTrim(
      Supplier<Snapshot> snapshots,
      Supplier<TrimReport> trims,
      Duration interval,
      double leastShare) {
    this.snapshots = snapshots;
    this.trims = trims;
    this.interval = interval;
    this.leastShare = leastShare;
  }

  /** Starts the thread, unless the system refuses another one. */
  public synchronized void start() {
    Thread started = new Thread(null, this::run, THREAD, 0, false);
    started.setDaemon(true);
    started.setContextClassLoader(AutomaticTrim.class.getClassLoader());
    try {
      started.start();
      thread = started;
    } catch (OutOfMemoryError e) {
      Log.MALLOMETER.warn("Automatic trims are off: no thread can be started", e);
    }
  }

  @Override
  public synchronized void close() {
    thread = null;
    notifyAll();
  }

  private void run() {
    Log.Once failure = Log.MALLOMETER.once();
    while (awaitNext()) {
      try {
        trimIfWorthWhile();
      } catch (Throwable e) {
        failure.warn("A trim failed. Further trims are tried; their failures are not logged.", e);
      }
    }
  }

  private void trimIfWorthWhile() {
    if (worthWhile(snapshots.get(), leastShare)) {
      TrimReport report = trims.get();
      if (report.outcome() == TrimReport.Outcome.DONE) {
        Log.MALLOMETER.info("Trimmed the allocator: " + report.explanation());
      }
    }
  }

  /** Returns whether a trim would return at least a share of the resident set; false if unknown. */
  static boolean worthWhile(Snapshot snapshot, double leastShare) {
    double trimmable =
        snapshot.allocator().map(AllocatorStatistics::trimmableBytes).orElse(Double.NaN);
    return trimmable > 0 && trimmable >= leastShare * snapshot.memory().residentBytes();
  }

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
        // Ignores interrupts, because only close() ends this thread.
        continue;
      }
    }
    return false;
  }
}
