package io.mallometer.internal.leak;

import java.util.Arrays;

/**
 * Estimates whether a series of numbers grows, and how fast.
 *
 * <p>The slope is Theil's and Sen's: the median of the slopes between all pairs of points (Journal
 * of the American Statistical Association 63, 1968). Memory that is allocated and soon freed again
 * does not change the slope.
 *
 * <p>A series grows if three conditions hold. Most pairs rise, which excludes noise, a single step
 * and a pool's sawtooth. The last third rises at least half as fast as the whole, which excludes a
 * cache that is nearly full. The rise is large enough. {@code TrendErrorRatesTest} measures how
 * often that is wrong.
 */
public final class Trend {

  /**
   * A series grows only if the later number is larger in at least this share of all pairs. A series
   * that rises in three steps, between four levels of equal length, has a share of about 0.75.
   */
  private static final double RISING_PAIRS = 0.8;

  private static final double STILL_RISING = 0.5;

  /** 95 % of a normal distribution are within this many standard deviations of its mean. */
  private static final double DEVIATIONS = 1.96;

  /**
   * The growth of a series per second, with an interval of 95 %; all {@code NaN} if the series does
   * not grow.
   */
  public record Slope(double lower, double value, double upper) {
    private static final Slope NONE = new Slope(Double.NaN, Double.NaN, Double.NaN);
  }

  private Trend() {}

  /**
   * Returns the slope of a series with Sen's interval, from the ranks of the slopes; all {@code
   * NaN} if the series does not grow.
   *
   * @param seconds the times, rising
   * @param least the least rise over the whole time that counts as growth
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
   * Returns the median slope of a series with its 95 % confidence interval. Unlike {@link #slope},
   * it also returns the slope of a series that does not grow. The result is all {@code NaN} for
   * fewer than two points.
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

  private static int rank(int points) {
    double deviation = Math.sqrt(points * (points - 1) * (2 * points + 5) / 18.0);
    return (int) Math.max(0, (pairs(points) - DEVIATIONS * deviation) / 2);
  }

  /** Stops as soon as the result is known, because most series do not grow. */
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

  public static double median(double[] seconds, double[] figures, int from, int to) {
    return median(slopes(seconds, figures, from, to));
  }

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
