package io.mallometer.model;

import java.time.Duration;

/**
 * Kind of program, which decides for how long it may not access an object that it still needs. That
 * is only the least idle time at which an object is suspected: what a site's objects do raises it.
 */
public enum LeakWorkload {
  /** Periodic work: all data is reached within some periods. */
  REAL_TIME(Duration.ofSeconds(30)),

  /** Waits for people, who come back within a minute or two. */
  INTERACTIVE(Duration.ofMinutes(2)),

  /** Answers requests; connections, sessions and caches wait for minutes. */
  SERVICE(Duration.ofMinutes(5)),

  /** Works in phases, and what one phase made may wait for a later one. */
  BATCH(Duration.ofMinutes(30));

  private final Duration floor;

  LeakWorkload(Duration floor) {
    this.floor = floor;
  }

  /** The least idle time at which an object is suspected. */
  public Duration floor() {
    return floor;
  }
}
