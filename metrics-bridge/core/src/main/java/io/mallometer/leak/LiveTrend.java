package io.mallometer.leak;

import io.mallometer.CallSite;
import io.mallometer.CallSites;
import java.util.HashMap;
import java.util.Map;

/**
 * Whether sites hold ever more, by their live bytes over the last {@link
 * LeakThresholds#TREND_FLOORS} floors. Estimates from samples waver, and a program that starts
 * fills what it needs: so the rise from the first third to the last must stand out of the
 * estimate's error, each third must have its part in it, and no step from one figure to the next
 * may be most of it, as that of a table that is loaded once.
 *
 * <p>At most {@value LeakThresholds#TREND_POINTS} figures of 4 bytes are kept for each of {@value
 * #MOST_SITES} sites.
 */
final class LiveTrend {

  static final int MOST_SITES = 4_096;

  private static final int POINTS = LeakThresholds.TREND_POINTS;
  private static final double HOUR = 3_600;

  private final Map<Integer, float[]> live = new HashMap<>();
  private final double[] times = new double[POINTS];
  private final double step;
  private final double shortest;
  private int points;

  /**
   * A trend.
   *
   * @param floorSeconds the floor of the profile
   */
  LiveTrend(double floorSeconds) {
    this.step = LeakThresholds.TREND_FLOORS * floorSeconds / POINTS;
    this.shortest = LeakThresholds.FEWEST_TREND_FLOORS * floorSeconds;
  }

  /** Adds a reading, unless the latest is too young. */
  void add(CallSites read, double seconds) {
    if (points > 0 && seconds - times[(points - 1) % POINTS] < step * 0.99) {
      return;
    }
    int at = points % POINTS;
    times[at] = seconds;
    points++;
    live.values().forEach(figures -> figures[at] = 0);
    for (CallSite site : read.sites()) {
      float[] figures = live.get(site.number());
      boolean holds = site.liveBytes().value() > 0;
      if (figures == null && holds && live.size() < MOST_SITES) {
        figures = new float[POINTS];
        live.put(site.number(), figures);
      }
      if (figures != null) {
        figures[at] = (float) site.liveBytes().value();
      }
    }
    if (live.size() == MOST_SITES) {
      live.values().removeIf(LiveTrend::isEmpty);
    }
  }

  private static boolean isEmpty(float[] figures) {
    for (float figure : figures) {
      if (figure != 0) {
        return false;
      }
    }
    return true;
  }

  /** What a site holds more each hour, if it holds ever more; {@code NaN} otherwise. */
  double growthBytesPerHour(CallSite site) {
    float[] figures = live.get(site.number());
    int count = Math.min(points, POINTS);
    if (figures == null || count < LeakThresholds.FEWEST_TREND_POINTS) {
      return Double.NaN;
    }
    double first = times[(points - count) % POINTS];
    double span = times[(points - 1) % POINTS] - first;
    if (span < shortest) {
      return Double.NaN;
    }
    double[] thirds = thirds(figures, count, first, span);
    double rise = thirds[2] - thirds[0];
    double error = Math.sqrt(site.liveBytes().variance());
    double least =
        Math.max(
            LeakThresholds.TREND_ERRORS * error,
            Math.max(
                LeakThresholds.TREND_BYTES, LeakThresholds.TREND_SHARE * site.liveBytes().value()));
    double part = Math.max(error, LeakThresholds.TREND_STEADY * rise);
    boolean steady = thirds[1] - thirds[0] >= part && thirds[2] - thirds[1] >= part;
    boolean gradual = largestStep(figures, count) <= LeakThresholds.TREND_LARGEST_STEP * rise;
    return rise >= least && steady && gradual ? rise / (span * 2 / 3) * HOUR : Double.NaN;
  }

  private double largestStep(float[] figures, int count) {
    double largest = 0;
    for (int i = points - count + 1; i < points; i++) {
      largest = Math.max(largest, figures[i % POINTS] - figures[(i - 1) % POINTS]);
    }
    return largest;
  }

  private double[] thirds(float[] figures, int count, double first, double span) {
    double[] sums = new double[3];
    int[] counts = new int[3];
    for (int i = points - count; i < points; i++) {
      int third = (int) Math.min(2, 3 * (times[i % POINTS] - first) / span);
      sums[third] += figures[i % POINTS];
      counts[third]++;
    }
    for (int third = 0; third < 3; third++) {
      sums[third] /= counts[third];
    }
    return sums;
  }
}
