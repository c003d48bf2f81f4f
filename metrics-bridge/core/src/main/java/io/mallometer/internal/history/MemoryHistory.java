package io.mallometer.internal.history;

import io.mallometer.internal.history.FallingResolution.Span;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.List;

/**
 * The parts of the memory in the last hour: every 15 s in the latest five minutes, which is how
 * often the resident set is divided, and every minute before. At most 90 moments of one kilobyte.
 * Thread-safe.
 */
public final class MemoryHistory {

  private final FallingResolution<MemoryMoment> moments =
      new FallingResolution<>(
          new Span(Duration.ofSeconds(15), Duration.ofMinutes(5)),
          new Span(Duration.ofMinutes(1), Duration.ofHours(1)));

  /**
   * Adds the parts in a snapshot, unless the latest moment is less than a quarter of a minute ago.
   *
   * @param nanoTime the time by {@link System#nanoTime()} or a clock like it
   */
  public synchronized void add(Snapshot snapshot, long nanoTime) {
    moments.add(nanoTime, () -> MemoryMoment.of(snapshot));
  }

  /** Returns the moments, oldest first, each once. */
  public synchronized List<MemoryMoment> moments() {
    return moments.points();
  }
}
