package io.mallometer.view;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * The interval between two requests of a viewer's page. It is 10 s, or longer if all pages together
 * would send more than two requests a second, up to 60 s with 120 viewers. Each page sends one
 * request in an interval, so the number of requests in the latest interval is the number of
 * viewers. Thread-safe.
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

  /** Counts a request. */
  synchronized void asked() {
    settle();
    requests++;
  }

  /** Returns the interval between two requests of a viewer, in seconds. */
  synchronized int seconds() {
    settle();
    return seconds;
  }

  private void settle() {
    Instant now = clock.instant();
    double elapsed = Duration.between(counted, now).toMillis() / 1e3;
    // A clock that was set back begins a new interval.
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
