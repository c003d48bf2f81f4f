package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * Whether sites hold ever more, by their live bytes over the last {@link
 * LeakThresholds#TREND_FLOORS} floors: {@link Trend} over these. Estimates from samples waver, so
 * the rise must stand out of the estimate's error too.
 *
 * <p>After an attach a site begins at 0, however much its code holds: what replaces objects that
 * were allocated before looks like growth until all of those are gone. So of a rise only that much
 * counts as is more than what was freed of them meanwhile.
 *
 * <p>At most {@value LeakThresholds#TREND_POINTS} figures of 4 bytes are kept for each of {@value
 * #MOST_SITES} sites, all in one array: a row for each site that is followed.
 */
final class LiveTrend {

  private static final int MOST_SITES = 4_096;

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

  /** The same times, oldest first. */
  private double[] seconds = {};

  /** What may have been replaced in that time of what was there before an attach. */
  private double replaced;

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
    this.seconds = inOrder(one -> times[one]);
    double[] freed = inOrder(one -> freedBefore[one]);
    replaced = Math.max(0, freed[freed.length - 1] - freed[0]);
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
    int last = seconds.length - 1;
    if (row == NO_ROW
        || seconds.length < LeakThresholds.FEWEST_TREND_POINTS
        || seconds[last] - seconds[0] < shortest) {
      return Double.NaN;
    }
    double stands =
        Math.max(
            LeakThresholds.TREND_ERRORS * Math.sqrt(site.liveBytes().variance()),
            LeakThresholds.TREND_SHARE * site.liveBytes().value());
    double least = Math.max(LeakThresholds.TREND_BYTES, stands) + replaced;
    return HOUR * Trend.perSecond(seconds, inOrder(at -> live[row * POINTS + at]), least);
  }

  /** What is kept of the last {@link #POINTS} readings, oldest first. */
  private double[] inOrder(IntToDoubleFunction kept) {
    int oldest = Math.max(0, points - POINTS);
    double[] figures = new double[points - oldest];
    for (int i = 0; i < figures.length; i++) {
      figures[i] = kept.applyAsDouble((oldest + i) % POINTS);
    }
    return figures;
  }
}
