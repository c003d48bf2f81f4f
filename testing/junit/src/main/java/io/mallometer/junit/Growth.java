package io.mallometer.junit;

import static java.lang.Double.NaN;

import io.mallometer.internal.leak.Trend;
import java.util.Arrays;

/**
 * Whether what a test keeps grows from run to run. Two tests say so, either of which is enough:
 *
 * <p>The first looks at what each run kept. Of n runs, sorted, the one of rank (n - 1.96 sqrt(n)) /
 * 2 is the lower end of the 95 % interval of the median, whatever the distribution: of 20 runs the
 * sixth smallest, so 15 must have kept more than is allowed. Large steps, such as a class or a
 * buffer that comes late, move neither. What rises in many small steps and falls in few large ones,
 * as a pool does that is emptied, is no growth: all runs together must come to half of what the
 * median promises.
 *
 * <p>The second looks at the series of what was live after each run, as the poller does for a
 * process: {@link Trend}, the median of the slopes between all pairs, with the interval of their
 * ranks. It also finds what leaks in every third run only.
 *
 * @param found whether it grows by more than is allowed
 * @param lower the lower end of the 95 % interval of the growth, in bytes a run
 * @param slope the growth
 * @param upper the upper end
 * @param smallest the least that a run kept, in bytes
 * @param median the median
 * @param largest the most
 */
record Growth(
    boolean found,
    double lower,
    double slope,
    double upper,
    double smallest,
    double median,
    double largest) {

  /** All of fewer runs keep more than their median by chance once in 16 times. */
  static final int FEWEST = 5;

  /** Of a normal distribution, 95 % are within so many standard deviations. */
  private static final double DEVIATIONS = 1.96;

  /** All runs together keep such a share of what they would at their median. */
  private static final double LASTING = 0.5;

  private static final Trend.Slope NONE = new Trend.Slope(Double.NaN, Double.NaN, Double.NaN);

  /** A series that rises by less over its whole length does not grow. */
  private static final double LEAST_BYTES = 1;

  /** What runs keep is steady where so many in a row are alike. */
  private static final int ALIKE = 4;

  private static final double ALIKE_BYTES = 64;
  private static final double ALIKE_SHARE = 0.1;

  /**
   * Judges a series.
   *
   * @param live bytes before the first run and after each
   * @param allowed bytes that a run may keep
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

  /** Returns how many of the sorted runs are below the interval of their median. */
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

  /** Whether the latest runs kept about the same, be it nothing. */
  static boolean isSteady(double[] live) {
    if (live.length <= ALIKE) {
      return false;
    }
    double[] latest = increments(Arrays.copyOfRange(live, live.length - ALIKE - 1, live.length));
    Arrays.sort(latest);
    double range = latest[ALIKE - 1] - latest[0];
    return range <= Math.max(ALIKE_BYTES, ALIKE_SHARE * Math.abs(latest[ALIKE / 2]));
  }

  /** Returns what was added from one to the next. */
  static double[] increments(double[] live) {
    double[] kept = new double[live.length - 1];
    for (int i = 0; i < kept.length; i++) {
      kept[i] = live[i + 1] - live[i];
    }
    return kept;
  }
}
