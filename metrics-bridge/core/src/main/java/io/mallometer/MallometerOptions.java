package io.mallometer;

import java.time.Duration;

/**
 * How to read the native library.
 *
 * @param pollInterval time between two polls. Facades share one poller: the shortest interval of
 *     those that are open holds. At least {@link #SHORTEST_POLL_INTERVAL}; a shorter one is raised
 *     to it
 */
public record MallometerOptions(Duration pollInterval) {

  /** Five seconds: three polls within a usual scrape interval of 15 s. */
  public static final Duration DEFAULT_POLL_INTERVAL = Duration.ofSeconds(5);

  /** Ten milliseconds, many times what a poll takes in a process of some hundred threads. */
  public static final Duration SHORTEST_POLL_INTERVAL = Duration.ofMillis(10);

  public MallometerOptions {
    if (pollInterval.compareTo(SHORTEST_POLL_INTERVAL) < 0) {
      pollInterval = SHORTEST_POLL_INTERVAL;
    }
  }

  /** The defaults: a poll every five seconds. */
  public static MallometerOptions defaults() {
    return new MallometerOptions(DEFAULT_POLL_INTERVAL);
  }

  /** These options with another poll interval. */
  public MallometerOptions withPollInterval(Duration pollInterval) {
    return new MallometerOptions(pollInterval);
  }
}
