package io.mallometer.internal.engine;

import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Keeps one snapshot for each scrape. A scrape is a series of calls of one thread that each read
 * one metric, and all get the same snapshot. It ends when the thread polls, when the thread makes
 * no call for {@link #IDLE}, or after {@link #LONGEST}. Thread-safe.
 */
final class SnapshotOfScrape {

  static final Duration IDLE = Duration.ofMillis(250);
  static final Duration LONGEST = Duration.ofSeconds(5);

  private static final class Scrape {
    private final Snapshot snapshot;
    private final long began;
    private volatile long read;

    private Scrape(Snapshot snapshot, long began) {
      this.snapshot = snapshot;
      this.began = began;
      this.read = began;
    }

    private boolean over(long now) {
      return now - read >= IDLE.toNanos() || now - began >= LONGEST.toNanos();
    }
  }

  private final LongSupplier nanoTime;
  private final Map<Thread, Scrape> byThread = new ConcurrentHashMap<>();

  SnapshotOfScrape(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  Snapshot snapshot(Snapshot latest) {
    long now = nanoTime.getAsLong();
    Scrape scrape = byThread.get(Thread.currentThread());
    if (scrape == null || scrape.over(now)) {
      letGo(now);
      scrape = new Scrape(latest, now);
      byThread.put(Thread.currentThread(), scrape);
    }
    scrape.read = now;
    return scrape.snapshot;
  }

  void polled() {
    byThread.remove(Thread.currentThread());
    letGo(nanoTime.getAsLong());
  }

  private void letGo(long now) {
    byThread.values().removeIf(scrape -> scrape.over(now));
  }

  int held() {
    return byThread.size();
  }
}
