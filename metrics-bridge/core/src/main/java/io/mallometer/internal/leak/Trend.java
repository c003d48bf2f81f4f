package io.mallometer.internal.leak;

import java.util.Arrays;

/**
 * Whether a series of figures grows, and how fast.
 *
 * <p>The slope is Theil's and Sen's: the median of the slopes between all pairs of points, which a
 * compiler that takes and returns 30 MiB does not move (Journal of the American Statistical
 * Association 63, 1968). It counts as growth only if most pairs rise, which those of noise, of one
 * step and of a pool's sawtooth do not; if the last third of the time rises at least half as fast,
 * which a cache that is nearly full does not; and if it comes to something. {@code docs/leaks.md}
 * states how often that is wrong.
 */
public final class Trend {

  /** Of all pairs of figures this share rises: of three even steps 0.75 do. */
  private static final double RISING_PAIRS = 0.8;

  /** The slope of the last third is such a share of that of the whole time. */
  private static final double STILL_RISING = 0.5;

  private Trend() {}

  /**
   * How fast a series grows, in figures per second; {@code NaN} if it does not.
   *
   * @param seconds the times, rising
   * @param figures one for each time
   * @param least by how much a series rises at least over its whole time, if it grows
   */
  public static double perSecond(double[] seconds, double[] figures, double least) {
    if (!mostPairsRise(figures)) {
      return Double.NaN;
    }
    int points = figures.length;
    double slope = slope(seconds, figures, 0);
    boolean enough = slope * (seconds[points - 1] - seconds[0]) >= least;
    return enough && slope(seconds, figures, points * 2 / 3) >= STILL_RISING * slope
        ? slope
        : Double.NaN;
  }

  /** Stops as soon as it is known, since most sites do not grow. */
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

  /** From a point on; {@code NaN} of fewer than two. */
  private static double slope(double[] seconds, double[] figures, int from) {
    double[] slopes = new double[pairs(figures.length - from)];
    int next = 0;
    for (int i = from; i < figures.length; i++) {
      for (int j = i + 1; j < figures.length; j++) {
        slopes[next++] = (figures[j] - figures[i]) / (seconds[j] - seconds[i]);
      }
    }
    Arrays.sort(slopes);
    return slopes.length == 0 ? Double.NaN : slopes[slopes.length / 2];
  }
}
