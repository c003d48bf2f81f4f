package io.mallometer.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import java.util.Arrays;

/**
 * Whether sites hold ever more, by their live bytes over the last {@link
 * LeakThresholds#TREND_FLOORS} floors. Estimates from samples waver, and a program that starts
 * fills what it needs: so the rise from the first third to the last must stand out of the
 * estimate's error, each third must have its part in it, and no step from one figure to the next
 * may be most of it, as that of a table that is loaded once.
 *
 * <p>After an attach a site begins at 0, however much its code holds: what replaces objects that
 * were allocated before looks like growth until all of those are gone. So of a rise only that much
 * counts as is more than what was freed of them meanwhile.
 *
 * <p>At most {@value LeakThresholds#TREND_POINTS} figures of 4 bytes are kept for each of {@value
 * #MOST_SITES} sites, all in one array: a row for each site that is followed.
 */
final class LiveTrend {

  static final int MOST_SITES = 4_096;

  private static final int POINTS = LeakThresholds.TREND_POINTS;
  private static final double HOUR = 3_600;

  private static final int NO_ROW = -1;
  private static final int FIRST_ROWS = 256;

  /** By the number of a site; {@link #NO_ROW} for one that is not followed. */
  private int[] rows = {};

  /** The number of the site that has a row. */
  private int[] numbers = new int[FIRST_ROWS];

  /** {@link #POINTS} for each row. */
  private float[] live = new float[FIRST_ROWS * POINTS];

  private int followed;
  private final double[] times = new double[POINTS];

  /** What was freed by then of what was allocated before an attach. */
  private final double[] freedBefore = new double[POINTS];

  private final double step;
  private final double shortest;
  private int points;

  /** Where the second and the last third of the time begin, in points. */
  private int secondThird;

  private int lastThird;

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
    freedBefore[at] = read.origin().freedBeforeBytes();
    points++;
    secondThird = beginOfThird(1);
    lastThird = beginOfThird(2);
    for (int row = 0; row < followed; row++) {
      live[row * POINTS + at] = 0;
    }
    for (CallSite site : read.sites()) {
      double bytes = site.liveBytes().value();
      int row = bytes > 0 ? rowFor(site.number()) : row(site.number());
      if (row != NO_ROW) {
        live[row * POINTS + at] = (float) bytes;
      }
    }
    if (followed == MOST_SITES) {
      forgetEmpty();
    }
  }

  private int row(int number) {
    return number >= 0 && number < rows.length ? rows[number] : NO_ROW;
  }

  /** A new one if it has none and there is room. */
  private int rowFor(int number) {
    int known = row(number);
    if (known != NO_ROW || followed == MOST_SITES || !SamplesBySite.isNumber(number)) {
      return known;
    }
    makeRoom(number);
    int row = followed++;
    rows[number] = row;
    numbers[row] = number;
    Arrays.fill(live, row * POINTS, (row + 1) * POINTS, 0);
    return row;
  }

  private void makeRoom(int number) {
    if (number >= rows.length) {
      int before = rows.length;
      rows = Arrays.copyOf(rows, Math.max(number + 1, 2 * before));
      Arrays.fill(rows, before, rows.length, NO_ROW);
    }
    if (followed == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * followed);
      live = Arrays.copyOf(live, 2 * followed * POINTS);
    }
  }

  /** The last row takes the place of one that is given up. */
  private void forgetEmpty() {
    for (int row = followed - 1; row >= 0; row--) {
      if (isEmpty(row)) {
        followed--;
        rows[numbers[row]] = NO_ROW;
        if (row < followed) {
          System.arraycopy(live, followed * POINTS, live, row * POINTS, POINTS);
          numbers[row] = numbers[followed];
          rows[numbers[row]] = row;
        }
      }
    }
  }

  private boolean isEmpty(int row) {
    for (int i = 0; i < POINTS; i++) {
      if (live[row * POINTS + i] != 0) {
        return false;
      }
    }
    return true;
  }

  // ---- What it says

  /** What a site holds more each hour, if it holds ever more; {@code NaN} otherwise. */
  double growthBytesPerHour(CallSite site) {
    int row = row(site.number());
    if (row == NO_ROW
        || points - oldest() < LeakThresholds.FEWEST_TREND_POINTS
        || span() < shortest) {
      return Double.NaN;
    }
    double first = mean(row, oldest(), secondThird);
    double last = mean(row, lastThird, points);
    double rise = last - first;
    double replaced = replaced();
    return rise - replaced >= LeakThresholds.TREND_BYTES
            && stands(rise, replaced, site, row, first, last)
        ? rise / (span() * 2 / 3) * HOUR
        : Double.NaN;
  }

  /** Whether a rise stands out, has a part in each third, and is not most of it one step. */
  private boolean stands(
      double rise, double replaced, CallSite site, int row, double first, double last) {
    double error = Math.sqrt(site.liveBytes().variance());
    double least =
        Math.max(
            LeakThresholds.TREND_ERRORS * error,
            LeakThresholds.TREND_SHARE * site.liveBytes().value());
    double part = Math.max(error, LeakThresholds.TREND_STEADY * rise);
    double middle = mean(row, secondThird, lastThird);
    return rise - replaced >= least
        && middle - first >= part
        && last - middle >= part
        && largestStep(row) <= LeakThresholds.TREND_LARGEST_STEP * rise;
  }

  /** What may have been replaced of what was there before an attach, from third to third. */
  private double replaced() {
    return Math.max(
        0, mean(freedBefore, lastThird, points) - mean(freedBefore, oldest(), secondThird));
  }

  private static double mean(double[] figures, int from, int to) {
    double sum = 0;
    for (int point = from; point < to; point++) {
      sum += figures[point % POINTS];
    }
    return sum / (to - from);
  }

  private int oldest() {
    return Math.max(0, points - POINTS);
  }

  /** From the oldest point to the latest, in seconds. */
  private double span() {
    return times[(points - 1) % POINTS] - times[oldest() % POINTS];
  }

  private int beginOfThird(int third) {
    double first = times[oldest() % POINTS];
    int point = oldest();
    while (point < points && 3 * (times[point % POINTS] - first) / span() < third) {
      point++;
    }
    return point;
  }

  private double mean(int row, int from, int to) {
    double sum = 0;
    for (int point = from; point < to; point++) {
      sum += figure(row, point);
    }
    return sum / (to - from);
  }

  private double largestStep(int row) {
    double largest = 0;
    for (int point = oldest() + 1; point < points; point++) {
      largest = Math.max(largest, figure(row, point) - figure(row, point - 1));
    }
    return largest;
  }

  private float figure(int row, int point) {
    return live[row * POINTS + point % POINTS];
  }
}
