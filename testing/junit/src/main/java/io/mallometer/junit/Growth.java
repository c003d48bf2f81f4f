package io.mallometer.junit;

import static java.lang.Double.NaN;

import io.mallometer.internal.leak.Trend;
import java.util.Arrays;

/**
 * States whether the bytes that a test keeps grow from run to run. One of two statistical tests
 * must find growth.
 *
 * <p>The first test uses the bytes that each run kept. The lower end of the 95 % interval of their
 * median must exceed the allowed bytes. The lower end is the value of rank (n - 1.96 sqrt(n)) / 2
 * among n sorted runs, such as the sixth smallest of 20. A few large steps, such as a late loading
 * of a class, do not change this value.
 *
 * <p>The first test also requires that the mean of the bytes that the runs kept is at least half of
 * their median. The allowed bytes are subtracted from both. A pool that is emptied now and then has
 * a lower mean.
 *
 * <p>The second test uses the live bytes after each run. {@link Trend} computes the median of the
 * slopes between all pairs of runs. This test even finds a leak that occurs only in every third
 * run.
 *
 * @param found whether the growth exceeds the allowed bytes
 * @param lower the lower end of the 95 % interval of the growth, in bytes a run
 * @param slope the growth, in bytes a run
 * @param upper the upper end of the interval
 * @param smallest the fewest bytes that a run kept
 * @param median the median of the bytes that the runs kept
 * @param largest the most bytes that a run kept
 */
record Growth(
    boolean found,
    double lower,
    double slope,
    double upper,
    double smallest,
    double median,
    double largest) {

  /**
   * The least number of runs. Five runs are all above the true median with a probability of 1/32.
   */
  static final int FEWEST = 5;

  /** The number of standard deviations that contain 95 % of a normal distribution. */
  private static final double DEVIATIONS = 1.96;

  /**
   * The least ratio of mean to median of the bytes that runs kept, with which the first statistical
   * test finds growth. Allowed bytes are subtracted from mean and median.
   */
  private static final double LASTING = 0.5;

  private static final Trend.Slope NONE = new Trend.Slope(Double.NaN, Double.NaN, Double.NaN);

  /** The least rise of a growing series, in bytes from its first to its last run. */
  private static final double LEAST_BYTES = 1;

  /** A series is steady if this many of its latest runs kept about the same number of bytes. */
  private static final int ALIKE = 4;

  private static final double ALIKE_BYTES = 64;
  private static final double ALIKE_SHARE = 0.1;

  /**
   * Judges a series.
   *
   * @param live the live bytes before the first run and after each
   */
  static Growth of(double[] live, double allowed) {
    if (live.length <= FEWEST) {
      return new Growth(false, NaN, NaN, NaN, NaN, NaN, NaN);
    }
    double[] kept = increments(live);
    double total = live[live.length - 1] - live[0];
    Arrays.sort(kept);
    int rank = rank(kept.length);
    double median = kept[kept.length / 2];
    boolean lasts = total - allowed * kept.length >= LASTING * (median - allowed) * kept.length;
    boolean mostRuns = kept[rank] > allowed && lasts;
    Trend.Slope trend = mostRuns ? NONE : trend(live, allowed);
    boolean rises = trend.lower() > 0;
    return new Growth(
        mostRuns || rises,
        rises ? trend.lower() + allowed : kept[rank],
        rises ? trend.value() + allowed : median,
        rises ? trend.upper() + allowed : kept[kept.length - 1 - rank],
        kept[0],
        median,
        kept[kept.length - 1]);
  }

  /** Returns the number of sorted runs that lie below the 95 % interval of the median. */
  private static int rank(int runs) {
    return (int) Math.max(0, (runs - DEVIATIONS * Math.sqrt(runs)) / 2);
  }

  private static Trend.Slope trend(double[] live, double allowed) {
    double[] runs = new double[live.length];
    double[] excess = new double[live.length];
    for (int i = 0; i < live.length; i++) {
      runs[i] = i;
      excess[i] = live[i] - allowed * i;
    }
    return Trend.slope(runs, excess, LEAST_BYTES);
  }

  /** Returns whether the latest runs kept about the same number of bytes, which may be 0. */
  static boolean isSteady(double[] live) {
    if (live.length <= ALIKE) {
      return false;
    }
    double[] latest = increments(Arrays.copyOfRange(live, live.length - ALIKE - 1, live.length));
    Arrays.sort(latest);
    double range = latest[ALIKE - 1] - latest[0];
    return range <= Math.max(ALIKE_BYTES, ALIKE_SHARE * Math.abs(latest[ALIKE / 2]));
  }

  static double[] increments(double[] live) {
    double[] kept = new double[live.length - 1];
    for (int i = 0; i < kept.length; i++) {
      kept[i] = live[i + 1] - live[i];
    }
    return kept;
  }
}
