package io.mallometer.view;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * How often each of those who watch is to ask, so that together they ask twice a second at most:
 * each once in 10 s, or up to 60, which is reached with 120 of them. As each asks once in the time
 * that it was told, those who asked in the last such time are how many they are. Thread-safe.
 */
final class Pace {

  private static final int SHORTEST_SECONDS = 10;
  private static final int LONGEST_SECONDS = 60;
  private static final int REQUESTS_A_SECOND = 2;

  private final Clock clock;
  private Instant counted;
  private int requests;
  private int seconds = SHORTEST_SECONDS;

  Pace(Clock clock) {
    this.clock = clock;
    this.counted = clock.instant();
  }

  /** Somebody asked. */
  synchronized void asked() {
    settle();
    requests++;
  }

  /** How long each is to wait before asking again. */
  synchronized int seconds() {
    settle();
    return seconds;
  }

  private void settle() {
    Instant now = clock.instant();
    double elapsed = Duration.between(counted, now).toMillis() / 1e3;
    // A clock that was set back begins anew.
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
