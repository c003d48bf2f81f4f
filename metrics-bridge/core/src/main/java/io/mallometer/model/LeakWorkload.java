package io.mallometer.model;

import java.time.Duration;

/**
 * Kind of program, which decides the shortest idle time at which an object is suspected. The idle
 * times after which a site's objects were used or freed raise that time.
 */
public enum LeakWorkload {
  /** Periodic work: all data is reached within some periods. */
  REAL_TIME(Duration.ofSeconds(30)),

  /** Waits for people, who return within a minute or two. */
  INTERACTIVE(Duration.ofMinutes(2)),

  /** Answers requests; connections, sessions and caches wait for minutes. */
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
