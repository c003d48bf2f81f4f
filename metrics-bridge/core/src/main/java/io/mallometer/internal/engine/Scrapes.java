package io.mallometer.internal.engine;

import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * One snapshot for each scrape, where a scrape is many calls that ask for a figure each. The first
 * snapshot that a thread reads serves that thread until it has read none for {@link #IDLE}, and for
 * {@link #LONGEST} at most. The next poll, or the next scrape to begin, lets go of it. Thread-safe.
 */
final class Scrapes {

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

  Scrapes(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns the snapshot of the calling thread's scrape, which is the latest if one begins. */
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

  /** Ends the calling thread's scrape, because the thread has polled, and lets go of others. */
  void polled() {
    byThread.remove(Thread.currentThread());
    letGo(nanoTime.getAsLong());
  }

  private void letGo(long now) {
    byThread.values().removeIf(scrape -> scrape.over(now));
  }

  /** Returns how many scrapes are held. */
  int held() {
    return byThread.size();
  }
}
