package io.mallometer.internal.history;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

/**
 * Stores points with their times, recent ones at a finer resolution than old ones. Each level
 * stores points that are at least a step apart, up to an age. The clock must be monotonic. Not
 * thread-safe.
 */
public final class FallingResolution<T> {

  public record Span(Duration step, Duration age) {}

  public record Dated<T>(long nanos, T point) {}

  private static final class Level<T> {
    final long stepNanos;
    final long ageNanos;
    final Deque<Dated<T>> points = new ArrayDeque<>();

    Level(Span span, long earlyNanos) {
      stepNanos = span.step().toNanos() - earlyNanos;
      ageNanos = span.age().toNanos();
    }

    boolean wants(long nanos) {
      return points.isEmpty() || nanos - points.getLast().nanos() >= stepNanos;
    }

    void add(Dated<T> dated) {
      if (wants(dated.nanos())) {
        points.add(dated);
      }
      while (dated.nanos() - points.getFirst().nanos() > ageNanos) {
        points.removeFirst();
      }
    }
  }

  private final List<Level<T>> finestFirst;

  /**
   * Creates the levels, finest first. Each level accepts a point that comes early by at most a
   * quarter of the finest step, because points do not come at exact times.
   */
  public FallingResolution(Span... finestFirst) {
    long earlyNanos = finestFirst[0].step().toNanos() / 4;
    List<Level<T>> levels = new ArrayList<>();
    for (Span span : finestFirst) {
      levels.add(new Level<>(span, earlyNanos));
    }
    this.finestFirst = List.copyOf(levels);
  }

  /**
   * Creates and adds a point, unless the latest point is younger than three quarters of the finest
   * step.
   */
  public void add(long nanos, Supplier<T> point) {
    if (finestFirst.get(0).wants(nanos)) {
      Dated<T> dated = new Dated<>(nanos, point.get());
      for (Level<T> level : finestFirst) {
        level.add(dated);
      }
    }
  }

  /**
   * Returns the points, oldest first. A point that is stored in several levels is returned once.
   */
  public List<T> points() {
    List<T> points = new ArrayList<>();
    for (Dated<T> dated : dated()) {
      points.add(dated.point());
    }
    return List.copyOf(points);
  }

  List<Dated<T>> dated() {
    List<Dated<T>> points = new ArrayList<>();
    for (int i = finestFirst.size() - 1; i >= 0; i--) {
      for (Dated<T> dated : finestFirst.get(i).points) {
        if (i == 0 || isBefore(dated, finestFirst.get(i - 1))) {
          points.add(dated);
        }
      }
    }
    return List.copyOf(points);
  }

  private static <T> boolean isBefore(Dated<T> dated, Level<T> finer) {
    return !finer.points.isEmpty() && dated.nanos() - finer.points.getFirst().nanos() < 0;
  }
}
