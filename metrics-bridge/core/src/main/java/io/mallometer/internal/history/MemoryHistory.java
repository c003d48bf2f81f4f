package io.mallometer.internal.history;

import io.mallometer.internal.history.FallingResolution.Span;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.List;

/**
 * Where the memory was in the last hour: five minutes by 15 s, as often as it is split, the rest by
 * the minute. At most 90 moments of one kilobyte. Thread-safe.
 */
public final class MemoryHistory {

  private final FallingResolution<MemoryMoment> moments =
      new FallingResolution<>(
          new Span(Duration.ofSeconds(15), Duration.ofMinutes(5)),
          new Span(Duration.ofMinutes(1), Duration.ofHours(1)));

  /**
   * Adds what a snapshot says, unless the latest moment is less than a quarter of a minute ago.
   *
   * @param nanoTime when, by {@link System#nanoTime()} or a clock like it
   */
  public synchronized void add(Snapshot snapshot, long nanoTime) {
    moments.add(nanoTime, () -> MemoryMoment.of(snapshot));
  }

  /** The moments, oldest first, each once. */
  public synchronized List<MemoryMoment> moments() {
    return moments.points();
  }
}
