package io.mallometer.internal.leak;

import java.util.Arrays;

/**
 * Whether a series of figures grows, and how fast.
 *
 * <p>The slope is Theil's and Sen's: the median of the slopes between all pairs of points, which a
 * compiler that takes and returns 30 MiB does not move (Journal of the American Statistical
 * Association 63, 1968). It counts as growth only if most pairs rise, which those of noise, of one
 * step and of a pool's sawtooth do not; if the last third of the time rises at least half as fast,
 * which a cache that is nearly full does not; and if it comes to something. {@code
 * docs/explanation/leaks.md} states how often that is wrong.
 */
public final class Trend {

  /** Of all pairs of figures this share rises: of three even steps 0.75 do. */
  private static final double RISING_PAIRS = 0.8;

  /** The slope of the last third is such a share of that of the whole time. */
  private static final double STILL_RISING = 0.5;

  /** Of a normal distribution, 95 % are within so many standard deviations. */
  private static final double DEVIATIONS = 1.96;

  /**
   * How fast a series grows, in figures per second, with an interval of 95 %; all {@code NaN} if it
   * does not grow.
   */
  public record Slope(double lower, double value, double upper) {
    private static final Slope NONE = new Slope(Double.NaN, Double.NaN, Double.NaN);
  }

  private Trend() {}

  /**
   * Returns how fast a series grows. The interval is Sen's, from the ranks of the slopes.
   *
   * @param seconds the times, rising
   * @param figures one for each time
   * @param least by how much a series rises at least over its whole time, if it grows
   */
  public static Slope slope(double[] seconds, double[] figures, double least) {
    if (!mostPairsRise(figures)) {
      return Slope.NONE;
    }
    int points = figures.length;
    double[] slopes = slopes(seconds, figures, 0, points);
    double slope = median(slopes);
    boolean enough = slope * (seconds[points - 1] - seconds[0]) >= least;
    return enough && median(seconds, figures, points * 2 / 3, points) >= STILL_RISING * slope
        ? new Slope(slopes[rank(points)], slope, slopes[slopes.length - 1 - rank(points)])
        : Slope.NONE;
  }

  /**
   * Returns the median slope of a series with its interval, whether the series grows or not; all
   * {@code NaN} for fewer than two points.
   */
  public static Slope interval(double[] seconds, double[] figures) {
    int points = figures.length;
    if (points < 2) {
      return Slope.NONE;
    }
    double[] slopes = slopes(seconds, figures, 0, points);
    return new Slope(
        slopes[rank(points)], median(slopes), slopes[slopes.length - 1 - rank(points)]);
  }

  /** Returns how many of the sorted slopes are below the interval. */
  private static int rank(int points) {
    double deviation = Math.sqrt(points * (points - 1) * (2 * points + 5) / 18.0);
    return (int) Math.max(0, (pairs(points) - DEVIATIONS * deviation) / 2);
  }

  /** Stops as soon as it is known, since most series do not grow. */
  private static boolean mostPairsRise(double[] figures) {
    int all = pairs(figures.length);
    double most = all - RISING_PAIRS * all;
    int others = 0;
    for (int i = 0; i < figures.length && others <= most; i++) {
      for (int j = i + 1; j < figures.length; j++) {
        others += figures[j] > figures[i] ? 0 : 1;
      }
    }
    return others <= most;
  }

  private static int pairs(int points) {
    return points * (points - 1) / 2;
  }

  /** Returns the median of the slopes between some of the points, the last exclusive. */
  public static double median(double[] seconds, double[] figures, int from, int to) {
    return median(slopes(seconds, figures, from, to));
  }

  /** Returns the slopes between all pairs of some points, sorted. */
  private static double[] slopes(double[] seconds, double[] figures, int from, int to) {
    double[] slopes = new double[pairs(to - from)];
    int next = 0;
    for (int i = from; i < to; i++) {
      for (int j = i + 1; j < to; j++) {
        slopes[next++] = (figures[j] - figures[i]) / (seconds[j] - seconds[i]);
      }
    }
    Arrays.sort(slopes);
    return slopes;
  }

  private static double median(double[] sorted) {
    return sorted.length == 0 ? Double.NaN : sorted[sorted.length / 2];
  }
}
