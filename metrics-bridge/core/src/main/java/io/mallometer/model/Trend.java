package io.mallometer.model;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Whether live native memory grows, and how fast.
 *
 * <p>The slope is Theil's and Sen's: the median of the slopes between all pairs of points, which a
 * compiler that takes and returns 30 MiB does not move. It counts as growth only if four of five
 * pairs rise, if the last third of the time still rises by a third of the slope, and if what came
 * together is at least 8 MiB and a hundredth of what is live. The first two minutes are left out:
 * while its code is new, every JVM grows.
 *
 * @param bytesPerSecond the slope
 * @param watched the time that was looked at
 */
public record Trend(double bytesPerSecond, Duration watched) {

  /** The time that a JVM takes to warm up. */
  public static final Duration WARM_UP = Duration.ofMinutes(2);

  /** Nothing is said of a shorter time. */
  public static final Duration SHORTEST = Duration.ofMinutes(3);

  private static final Duration LONGEST = Duration.ofMinutes(30);
  private static final int MOST_POINTS = 60;
  private static final double RISING_PAIRS = 0.8;
  private static final double STILL_RISING = 1.0 / 3;
  private static final double LEAST_BYTES = 8 << 20;
  private static final double LEAST_SHARE = 0.01;

  /** A moment, and what was live or net. */
  private record Point(double seconds, double bytes) {}

  /**
   * The trend of a history, oldest first; empty if it is too short.
   *
   * @param since when counting began: figures from before an attach are not comparable
   */
  public static Optional<Trend> of(List<HistoryPoint> history, Instant since) {
    List<Point> points = points(history, since);
    Duration watched = watched(points);
    if (watched.compareTo(SHORTEST) < 0) {
      return Optional.empty();
    }
    double[] slopes = slopes(points);
    double slope = median(slopes);
    return Optional.of(new Trend(grows(points, slopes, slope) ? slope : 0, watched));
  }

  /** Whether live memory grows beyond doubt. */
  public boolean grows() {
    return bytesPerSecond > 0;
  }

  private static boolean grows(List<Point> points, double[] slopes, double slope) {
    Point last = points.get(points.size() - 1);
    double growth = slope * (last.seconds - points.get(0).seconds);
    long rising = Arrays.stream(slopes).filter(one -> one > 0).count();
    return growth >= Math.max(LEAST_BYTES, LEAST_SHARE * last.bytes)
        && rising >= RISING_PAIRS * slopes.length
        && median(slopes(points.subList(points.size() * 2 / 3, points.size())))
            >= STILL_RISING * slope;
  }

  /** Net bytes where live ones are unknown: they differ by what was allocated before an attach. */
  private static List<Point> points(List<HistoryPoint> history, Instant since) {
    if (history.isEmpty()) {
      return List.of();
    }
    HistoryPoint latest = history.get(history.size() - 1);
    ToDoubleFunction<HistoryPoint> bytes =
        Double.isNaN(latest.liveBytes()) ? HistoryPoint::netBytes : HistoryPoint::liveBytes;
    Instant end = latest.time();
    Instant warm = history.get(0).time().plus(WARM_UP);
    Instant start = latest(warm, end.minus(LONGEST), since);
    List<Point> points = new ArrayList<>();
    Duration step = Duration.between(start, end).dividedBy(MOST_POINTS);
    Instant due = start;
    for (HistoryPoint point : history) {
      if (!point.time().isBefore(due) && !Double.isNaN(bytes.applyAsDouble(point))) {
        points.add(new Point(seconds(start, point.time()), bytes.applyAsDouble(point)));
        due = point.time().plus(step);
      }
    }
    return points;
  }

  private static Instant latest(Instant... times) {
    return Arrays.stream(times).max(Comparator.naturalOrder()).orElseThrow();
  }

  private static double seconds(Instant start, Instant time) {
    return Duration.between(start, time).toNanos() / 1e9;
  }

  private static Duration watched(List<Point> points) {
    return points.isEmpty()
        ? Duration.ZERO
        : Duration.ofMillis(
            Math.round(1000 * (points.get(points.size() - 1).seconds - points.get(0).seconds)));
  }

  private static double[] slopes(List<Point> points) {
    double[] slopes = new double[points.size() * (points.size() - 1) / 2];
    int next = 0;
    for (int i = 0; i < points.size(); i++) {
      for (int j = i + 1; j < points.size(); j++) {
        slopes[next++] =
            (points.get(j).bytes - points.get(i).bytes)
                / (points.get(j).seconds - points.get(i).seconds);
      }
    }
    return slopes;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
  }
}
