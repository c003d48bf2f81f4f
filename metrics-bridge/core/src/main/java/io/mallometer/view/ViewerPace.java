package io.mallometer.view;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * Determines the interval at which each open page sends its request: 10 s with few pages, and up to
 * 60 s with many. All pages together then send about two requests a second. Thread-safe.
 */
final class ViewerPace {

  private static final int SHORTEST_SECONDS = 10;
  private static final int LONGEST_SECONDS = 60;
  private static final int REQUESTS_A_SECOND = 2;

  private final Clock clock;
  private Instant counted;
  private int requests;
  private int seconds = SHORTEST_SECONDS;

  ViewerPace(Clock clock) {
    this.clock = clock;
    this.counted = clock.instant();
  }

  synchronized void asked() {
    settle();
    requests++;
  }

  synchronized int seconds() {
    settle();
    return seconds;
  }

  private void settle() {
    Instant now = clock.instant();
    double elapsed = Duration.between(counted, now).toMillis() / 1e3;
    // If the clock was set back, a new interval begins.
    if (elapsed >= 0 && elapsed < seconds) {
      return;
    }
    double viewers = elapsed < 0 ? 0 : requests * seconds / elapsed;
    long wanted = Math.round(viewers / REQUESTS_A_SECOND);
    seconds = (int) Math.max(SHORTEST_SECONDS, Math.min(LONGEST_SECONDS, wanted));
    counted = now;
    requests = 0;
  }
}
