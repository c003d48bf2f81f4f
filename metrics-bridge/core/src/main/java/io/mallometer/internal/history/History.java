package io.mallometer.internal.history;

import io.mallometer.internal.history.FallingResolution.Span;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.List;

/**
 * The memory of the process at points of the last hour, at a lower resolution for older times.
 * Thread-safe.
 *
 * <p>Stores a point a second (or each poll) for five minutes, one every ten seconds for a quarter
 * of an hour, and one a minute for an hour: at most 550 points, some 50 KiB. Stores the parts of
 * the memory every 15 s for five minutes, and every minute for an hour: at most 90 times one
 * kilobyte.
 */
public final class History {

  private final FallingResolution<HistoryPoint> points =
      new FallingResolution<>(
          new Span(Duration.ofSeconds(1), Duration.ofMinutes(5)),
          new Span(Duration.ofSeconds(10), Duration.ofMinutes(15)),
          new Span(Duration.ofMinutes(1), Duration.ofHours(1)));

  private final FallingResolution<MemoryMoment> moments =
      new FallingResolution<>(
          new Span(Duration.ofSeconds(15), Duration.ofMinutes(5)),
          new Span(Duration.ofMinutes(1), Duration.ofHours(1)));

  /**
   * Adds a point for a snapshot, unless the latest point is less than a second old. Adds the parts
   * of its memory, unless the latest parts are less than a quarter of a minute old.
   *
   * @param nanoTime the time by {@link System#nanoTime()} or a clock like it
   */
  public synchronized void add(Snapshot snapshot, long nanoTime) {
    points.add(nanoTime, () -> HistoryPoint.of(snapshot));
    moments.add(nanoTime, () -> MemoryMoment.of(snapshot));
  }

  /** Returns the points, oldest first. */
  public synchronized List<HistoryPoint> points() {
    return points.points();
  }

  /** Returns the parts of the memory at each stored moment, oldest first. */
  public synchronized List<MemoryMoment> moments() {
    return moments.points();
  }
}
