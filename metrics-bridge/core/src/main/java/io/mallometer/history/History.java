package io.mallometer.history;

import io.mallometer.HistoryPoint;
import io.mallometer.Snapshot;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The last hour at falling resolution: five minutes by the second (or as often as is polled), a
 * quarter of an hour by ten seconds, an hour by the minute. At most 550 points, some 50 KiB.
 *
 * <p>Distances are told by a clock that nobody sets, so that a wall clock that jumps neither throws
 * points away nor lets them pile up. Thread-safe.
 */
public final class History {

  private record Dated(long nanos, HistoryPoint point) {}

  /** Points that are at least a step apart, up to an age. */
  private static final class Level {
    final long stepNanos;
    final long ageNanos;
    final Deque<Dated> points = new ArrayDeque<>();

    Level(Duration step, Duration age) {
      stepNanos = step.toNanos();
      ageNanos = age.toNanos();
    }

    /** A quarter of a step early is in time: polls do not come at full steps. */
    boolean wants(long nanos) {
      return points.isEmpty() || nanos - points.getLast().nanos() >= stepNanos - stepNanos / 4;
    }

    void add(Dated dated) {
      if (wants(dated.nanos())) {
        points.add(dated);
      }
      while (dated.nanos() - points.getFirst().nanos() > ageNanos) {
        points.removeFirst();
      }
    }
  }

  private final List<Level> finestFirst =
      List.of(
          new Level(Duration.ofSeconds(1), Duration.ofMinutes(5)),
          new Level(Duration.ofSeconds(10), Duration.ofMinutes(15)),
          new Level(Duration.ofMinutes(1), Duration.ofHours(1)));

  /**
   * Adds the figures of a snapshot, unless the latest are less than a second old.
   *
   * @param nanoTime when, by {@link System#nanoTime()} or a clock like it
   */
  public synchronized void add(Snapshot snapshot, long nanoTime) {
    if (!finestFirst.get(0).wants(nanoTime)) {
      return;
    }
    Dated dated = new Dated(nanoTime, HistoryPoint.of(snapshot));
    finestFirst.forEach(level -> level.add(dated));
  }

  /** The points, oldest first, each moment once. */
  public synchronized List<HistoryPoint> points() {
    List<HistoryPoint> points = new ArrayList<>();
    for (int i = finestFirst.size() - 1; i >= 0; i--) {
      for (Dated dated : finestFirst.get(i).points) {
        if (i == 0 || isBefore(dated, finestFirst.get(i - 1))) {
          points.add(dated.point());
        }
      }
    }
    return List.copyOf(points);
  }

  private static boolean isBefore(Dated dated, Level finer) {
    return !finer.points.isEmpty() && dated.nanos() - finer.points.getFirst().nanos() < 0;
  }
}
