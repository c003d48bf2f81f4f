package io.mallometer.internal.engine;

import io.mallometer.internal.leak.Trend;
import io.mallometer.model.HistoryPoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Whether the live native memory of the process grows, and how fast: {@link Trend} over up to
 * {@value #MOST_POINTS} points of the last half hour. Growth is at least 8 MiB and a hundredth of
 * what is live. The first two minutes are left out: while its code is new, every JVM grows.
 *
 * @param bytesPerSecond the slope; {@code NaN} if it does not grow
 * @param watched the time that was looked at
 */
record ProcessTrend(double bytesPerSecond, Duration watched) {

  /** The time that a JVM takes to warm up. */
  static final Duration WARM_UP = Duration.ofMinutes(2);

  /** Nothing is said of a shorter time. */
  static final Duration SHORTEST = Duration.ofMinutes(3);

  private static final Duration LONGEST = Duration.ofMinutes(30);
  private static final int MOST_POINTS = 60;
  private static final double LEAST_BYTES = 8 << 20;
  private static final double LEAST_SHARE = 0.01;

  /**
   * The trend of a history, oldest first; empty if it is too short.
   *
   * @param since when counting began: figures from before an attach are not comparable
   */
  static Optional<ProcessTrend> of(List<HistoryPoint> history, Instant since) {
    if (history.isEmpty()) {
      return Optional.empty();
    }
    ToDoubleFunction<HistoryPoint> figure = figure(history);
    List<HistoryPoint> points = points(history, since, figure);
    if (points.isEmpty()) {
      return Optional.empty();
    }
    Instant start = points.get(0).time();
    double[] seconds = points.stream().mapToDouble(one -> seconds(start, one)).toArray();
    double[] bytes = points.stream().mapToDouble(figure).toArray();
    int last = bytes.length - 1;
    Duration watched = Duration.ofMillis(Math.round(1000 * seconds[last]));
    double least = Math.max(LEAST_BYTES, LEAST_SHARE * bytes[last]);
    return watched.compareTo(SHORTEST) < 0
        ? Optional.empty()
        : Optional.of(new ProcessTrend(Trend.perSecond(seconds, bytes, least), watched));
  }

  /** Whether live memory grows beyond doubt. */
  boolean grows() {
    return bytesPerSecond > 0;
  }

  /** Net bytes where live ones are unknown: they differ by what was allocated before an attach. */
  private static ToDoubleFunction<HistoryPoint> figure(List<HistoryPoint> history) {
    return Double.isNaN(history.get(history.size() - 1).liveBytes())
        ? HistoryPoint::netBytes
        : HistoryPoint::liveBytes;
  }

  private static List<HistoryPoint> points(
      List<HistoryPoint> history, Instant since, ToDoubleFunction<HistoryPoint> figure) {
    Instant end = history.get(history.size() - 1).time();
    Instant warm = history.get(0).time().plus(WARM_UP);
    Instant due =
        Stream.of(warm, end.minus(LONGEST), since).max(Comparator.naturalOrder()).orElseThrow();
    Duration step = Duration.between(due, end).dividedBy(MOST_POINTS);
    List<HistoryPoint> points = new ArrayList<>();
    for (HistoryPoint point : history) {
      if (!point.time().isBefore(due) && !Double.isNaN(figure.applyAsDouble(point))) {
        points.add(point);
        due = point.time().plus(step);
      }
    }
    return points;
  }

  private static double seconds(Instant start, HistoryPoint point) {
    return Duration.between(start, point.time()).toNanos() / 1e9;
  }
}
