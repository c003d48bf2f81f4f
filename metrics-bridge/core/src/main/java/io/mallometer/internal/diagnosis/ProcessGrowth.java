package io.mallometer.internal.diagnosis;

import io.mallometer.internal.leak.Trend;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.model.HistoryPoint;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The growth of the process's memory: the {@link Trend} over the longest window in which memory
 * grows by at least 8 MiB and 1 % of the used bytes. A shorter window replaces it in two cases:
 * growth there is certainly faster (the intervals do not overlap), or growth slows down over the
 * longer window but not over the shorter one.
 *
 * @param slope the growth in bytes per second, with an interval of 95 %
 * @param since the start of the window
 * @param watched the length of the window
 * @param steadiness the rate in the second half of the window, divided by the rate in the first
 *     half
 * @param recent the rate in the last five minutes, divided by the slope
 * @param lastTrough the time of the last low point, if growth is measured between low points;
 *     otherwise empty. The window ends at this time
 */
record ProcessGrowth(
    Slope slope,
    Instant since,
    Duration watched,
    double steadiness,
    double recent,
    Optional<Instant> lastTrough) {

  static final Duration SHORTEST = Duration.ofSeconds(45);

  private static final List<Duration> WINDOWS =
      List.of(
          Duration.ofMinutes(60),
          Duration.ofMinutes(30),
          Duration.ofMinutes(15),
          Duration.ofMinutes(5),
          Duration.ofMinutes(2),
          SHORTEST);

  private static final Duration RECENT = Duration.ofMinutes(5);

  /**
   * Growth is measured between the low points of memory if memory fell at least this many times
   * within ten minutes.
   */
  static final int FEWEST_FALLS = 2;

  /**
   * Replaces {@link #FEWEST_FALLS} while cleaners free memory after garbage collections: a single
   * fall of memory then suffices.
   */
  static final int FEWEST_FALLS_OF_GARBAGE = 1;

  private static final int FEWEST_TROUGHS = 10;

  private static final int MOST_BLOCKS = 60;
  private static final int FEWEST_BLOCKS = 6;
  private static final double STEADY_SHARE = 0.8;
  private static final double LASTING_SHARE = 0.5;
  private static final double RECENT_SHARE = 0.5;

  /**
   * Growth must begin at the start of the window. The mean of the second third must exceed the mean
   * of the first third by at least this fraction of the rise that the slope predicts.
   */
  private static final double FROM_THE_START = 0.5;

  private static final Duration LONG_WINDOW = Duration.ofMinutes(15);

  /**
   * Memory at the end of the window must exceed its earlier maximum by this share of its earlier
   * range. The range is the difference between the maximum and the minimum before the window.
   */
  private static final double BEYOND_RANGE = 0.5;

  private static final double LEAST_BYTES = 8 << 20;
  private static final double LEAST_SHARE = 0.01;

  /**
   * Returns the growth of an amount of memory, such as the resident set; empty if it does not grow,
   * or is known for too short a time.
   *
   * @param history the history, oldest first
   * @param from the end of the start-up. Points before it are used only to find low points, and to
   *     require that memory grows beyond the start-up's maximum
   * @param fewestFalls growth is measured between low points if memory fell at least this many
   *     times within ten minutes
   */
  static Optional<ProcessGrowth> of(
      List<HistoryPoint> history,
      ToDoubleFunction<HistoryPoint> figure,
      Instant from,
      int fewestFalls) {
    List<HistoryPoint> all =
        history.stream()
            .filter(point -> !point.time().isBefore(from))
            .filter(point -> !Double.isNaN(figure.applyAsDouble(point)))
            .toList();
    double startUp =
        history.stream()
            .filter(point -> point.time().isBefore(from))
            .mapToDouble(figure)
            .filter(bytes -> !Double.isNaN(bytes))
            .max()
            .orElse(Double.NEGATIVE_INFINITY);
    Sawtooth sawtooth =
        Sawtooth.of(
            history.stream().filter(point -> !Double.isNaN(figure.applyAsDouble(point))).toList(),
            figure);
    boolean swings = sawtooth.falls() >= fewestFalls;
    List<HistoryPoint> known = swings ? sawtooth.troughs() : all;
    if (swings && known.size() < FEWEST_TROUGHS) {
      return Optional.empty();
    }
    Optional<ProcessGrowth> found = Optional.empty();
    Duration latest = Duration.ZERO;
    for (Duration window : WINDOWS) {
      Duration watched = watched(known, window);
      if (watched.compareTo(SHORTEST) < 0 || watched.equals(latest)) {
        continue;
      }
      latest = watched;
      Optional<ProcessGrowth> here = within(known, figure, watched, startUp);
      if (here.isPresent() && (found.isEmpty() || here.get().replaces(found.get()))) {
        found = here;
      }
    }
    return found.map(growth -> swings ? growth.betweenTroughs(known) : growth);
  }

  private ProcessGrowth betweenTroughs(List<HistoryPoint> troughs) {
    Instant first =
        troughs.stream()
            .map(HistoryPoint::time)
            .filter(time -> !time.isBefore(since))
            .findFirst()
            .orElse(since);
    Instant last = troughs.get(troughs.size() - 1).time();
    return new ProcessGrowth(slope, first, watched, steadiness, recent, Optional.of(last));
  }

  private boolean replaces(ProcessGrowth longer) {
    return slope.lower() > longer.slope.upper() || isLasting() && !longer.isLasting();
  }

  boolean isSteady() {
    return steadiness >= STEADY_SHARE;
  }

  boolean isRecent() {
    return recent >= RECENT_SHARE;
  }

  /** Returns whether growth is steady enough to be extrapolated over hours. */
  boolean isLasting() {
    return watched.compareTo(LONG_WINDOW) < 0 ? isSteady() : steadiness >= LASTING_SHARE;
  }

  static Duration watched(List<HistoryPoint> known, Duration window) {
    if (known.isEmpty()) {
      return Duration.ZERO;
    }
    Duration all = Duration.between(known.get(0).time(), known.get(known.size() - 1).time());
    return all.compareTo(window) < 0 ? all : window;
  }

  private static Optional<ProcessGrowth> within(
      List<HistoryPoint> known,
      ToDoubleFunction<HistoryPoint> figure,
      Duration watched,
      double startUp) {
    Instant start = known.get(known.size() - 1).time().minus(watched);
    List<HistoryPoint> points =
        known.stream().filter(point -> !point.time().isBefore(start)).toList();
    Blocks blocks = Blocks.of(points, figure, start, watched);
    if (blocks.count() < FEWEST_BLOCKS) {
      return Optional.empty();
    }
    double end = blocks.bytes()[blocks.count() - 1];
    double least = Math.max(LEAST_BYTES, LEAST_SHARE * end);
    Slope slope = Trend.slope(blocks.seconds(), blocks.bytes(), least);
    DoubleSummaryStatistics before =
        known.stream()
            .filter(point -> point.time().isBefore(start))
            .mapToDouble(figure)
            .summaryStatistics();
    double swings = Math.max(0, BEYOND_RANGE * (before.getMax() - before.getMin()));
    return slope.lower() > 0
            && blocks.riseFromTheStart(slope)
            && end - before.getMax() >= Math.max(least, swings)
            && end - startUp >= least / 2
        ? Optional.of(
            new ProcessGrowth(
                slope,
                start,
                watched,
                blocks.steadiness(),
                recent(points, figure) / slope.value(),
                Optional.empty()))
        : Optional.empty();
  }

  /**
   * Returns the growth in bytes per second within the last five minutes, from the mean of the first
   * fifth of this time to the mean of the last fifth.
   */
  private static double recent(List<HistoryPoint> points, ToDoubleFunction<HistoryPoint> figure) {
    Instant end = points.get(points.size() - 1).time();
    Duration span = watched(points, RECENT);
    Duration edge = span.dividedBy(5);
    double first = mean(points, figure, end.minus(span), end.minus(span).plus(edge));
    double last = mean(points, figure, end.minus(edge), end);
    return (last - first) / (span.minus(edge).toNanos() / 1e9);
  }

  private static double mean(
      List<HistoryPoint> points, ToDoubleFunction<HistoryPoint> figure, Instant from, Instant to) {
    return points.stream()
        .filter(point -> !point.time().isBefore(from) && !point.time().isAfter(to))
        .mapToDouble(figure)
        .average()
        .orElse(Double.NaN);
  }

  private static double secondsBetween(Instant start, HistoryPoint point) {
    return Duration.between(start, point.time()).toNanos() / 1e9;
  }

  /**
   * Means of the memory over intervals of equal length. Without them, one garbage collection, or
   * many points within a short time, could determine the slope.
   */
  private record Blocks(double[] seconds, double[] bytes) {

    static Blocks of(
        List<HistoryPoint> points,
        ToDoubleFunction<HistoryPoint> figure,
        Instant start,
        Duration watched) {
      int most = Math.min(MOST_BLOCKS, points.size());
      double length = watched.toNanos() / 1e9 / most;
      double[] times = new double[most];
      double[] sums = new double[most];
      int[] counts = new int[most];
      for (HistoryPoint point : points) {
        double time = secondsBetween(start, point);
        int block = Math.min(most - 1, (int) (time / length));
        times[block] += time;
        sums[block] += figure.applyAsDouble(point);
        counts[block]++;
      }
      int[] filled = IntStream.range(0, most).filter(block -> counts[block] > 0).toArray();
      return new Blocks(
          IntStream.of(filled).mapToDouble(block -> times[block] / counts[block]).toArray(),
          IntStream.of(filled).mapToDouble(block -> sums[block] / counts[block]).toArray());
    }

    int count() {
      return bytes.length;
    }

    boolean riseFromTheStart(Slope slope) {
      int third = count() / 3;
      double rise = mean(bytes, third, 2 * third) - mean(bytes, 0, third);
      double time = mean(seconds, third, 2 * third) - mean(seconds, 0, third);
      return rise >= FROM_THE_START * slope.value() * time;
    }

    private static double mean(double[] figures, int from, int to) {
      return Arrays.stream(figures, from, to).average().orElse(Double.NaN);
    }

    double steadiness() {
      int middle = count() / 2;
      return Trend.median(seconds, bytes, middle, count())
          / Trend.median(seconds, bytes, 0, count() - middle);
    }
  }
}
