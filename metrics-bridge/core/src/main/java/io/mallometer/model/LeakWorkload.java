package io.mallometer.model;

import java.time.Duration;

/**
 * The kind of a program. It determines the shortest time for which an object must be idle before it
 * is suspected. A call site gets a longer time if its objects were used or freed after long idle
 * times in the past.
 */
public enum LeakWorkload {
  /** Works periodically, and accesses all its data every few periods. */
  REAL_TIME(Duration.ofSeconds(30)),

  /** Waits for its users, who return within a minute or two. */
  INTERACTIVE(Duration.ofMinutes(2)),

  /** Answers requests; connections, sessions and caches may be idle for minutes. */
  SERVICE(Duration.ofMinutes(5)),

  /** Works in phases; an object of one phase may wait for a later phase. */
  BATCH(Duration.ofMinutes(30));

  private final Duration floor;

  LeakWorkload(Duration floor) {
    this.floor = floor;
  }

  /** Returns the shortest idle time at which an object is suspected. */
  public Duration floor() {
    return floor;
  }
}
