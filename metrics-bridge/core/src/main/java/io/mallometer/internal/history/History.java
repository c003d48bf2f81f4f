package io.mallometer.internal.history;

import io.mallometer.internal.history.FallingResolution.Span;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.List;

/**
 * The memory of the process at points of the last hour, with fewer points for older times.
 * Thread-safe.
 *
 * <p>Stores at most about 550 points, in about 50 KiB. Also stores the parts of the memory at about
 * 90 moments at most, in one kilobyte each.
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
   * Adds a {@link HistoryPoint} for a snapshot, unless the latest point is too recent. Adds a
   * {@link MemoryMoment}, the memory broken down by part, unless the latest moment is too recent.
   *
   * @param nanoTime the time by {@link System#nanoTime()} or a clock like it
   */
  public synchronized void add(Snapshot snapshot, long nanoTime) {
    points.add(nanoTime, () -> HistoryPoint.of(snapshot));
    moments.add(nanoTime, () -> MemoryMoment.of(snapshot));
  }

  public synchronized List<HistoryPoint> points() {
    return points.points();
  }

  public synchronized List<MemoryMoment> moments() {
    return moments.points();
  }
}
