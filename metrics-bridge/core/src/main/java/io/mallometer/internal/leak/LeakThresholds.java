package io.mallometer.internal.leak;

/**
 * Every number by which sites are judged, the same for all programs and sites. {@code
 * docs/leaks.md} says them in words; only the floor, by the profile, and the time scale can be set.
 *
 * <p>A leak is a site of which all of this holds:
 *
 * <ol>
 *   <li>At least {@link #FEWEST_STALE} sampled objects, which count as {@link #FEWEST_EFFECTIVE}
 *       equally weighted ones or more, have been idle longer than a threshold.
 *   <li>The threshold is the largest of: the floor of the profile; {@link #EPOCHS} epochs; {@link
 *       #IDLE_FACTOR} times the idle time before the free that {@link #IDLE_QUANTILE} of the site's
 *       objects do not exceed; {@link #LIFETIME_FACTOR} times the lifetime that {@link
 *       #LIFETIME_QUANTILE} do not exceed; {@link #GAP_FACTOR} times the gap between two uses that
 *       {@link #GAP_QUANTILE} do not exceed.
 *   <li>Such objects keep arriving. From the birth of the first that is idle to that of the latest
 *       that could be it takes {@link #ARRIVAL_SPAN} thresholds or more; of the others, a share
 *       whose lower bound (Wilson) is {@link #ARRIVAL_SHARE} or more was born in the last two
 *       thirds of that time, at least one in the middle third and {@link #FEWEST_IN_LAST_THIRD} in
 *       the last; the last third is not surely far below the first ({@link #FALLEN_SHARE}); they
 *       were born at {@link #FEWEST_MOMENTS} moments or more; and if none had been born since, that
 *       would not be strange ({@link #ENDED}).
 *   <li>Idle objects stay so: of those that were ever idle for the threshold, a share of {@link
 *       #PLATEAU} or more is estimated (Kaplan and Meier) to be neither used nor freed afterwards,
 *       as far as that has been seen.
 *   <li>It matters: {@link #LEAST_BYTES} or more.
 * </ol>
 *
 * <p>With the first two, the last and a time of arrivals of {@link #ARRIVAL_SPAN} thresholds, but
 * not the others, it is a pool.
 */
public final class LeakThresholds {

  /** SWAT's and any fixed idle time are fooled by a few odd objects. */
  static final int FEWEST_STALE = 5;

  /** Stacks that are judged together are picked for having idle objects: chance has many tries. */
  static final int FEWEST_STALE_TOGETHER = 10;

  /** Where weights differ, a few heavy samples must not stand for many. */
  static final double FEWEST_EFFECTIVE = 3.5;

  static final double IDLE_QUANTILE = 0.95;
  static final double IDLE_FACTOR = 4;
  static final double LIFETIME_QUANTILE = 0.95;
  static final double LIFETIME_FACTOR = 2;
  static final double GAP_QUANTILE = 0.99;
  static final double GAP_FACTOR = 3;

  /** The kernel may clear a bit itself once: several epochs have to agree. */
  static final double EPOCHS = 3;

  /**
   * What is made when a program starts arrives within less. A threshold above a third of the time
   * of observation leaves no room for it.
   */
  static final double ARRIVAL_SPAN = 2;

  /** Steady arrivals have a share of 0.67; those that fall off like 1/t one of 0.27 and less. */
  static final double ARRIVAL_SHARE = 0.35;

  /**
   * Of what was born in the first third and the last, the last has this share at least, unless that
   * may be chance: steady arrivals have a half.
   */
  static final double FALLEN_SHARE = 0.25;

  /** Standard errors between a share and its bounds: 84 %, one-sided. */
  static final double ARRIVAL_ERRORS = 1;

  /**
   * Where so large a share of the objects that are old enough is idle, all of these are arrivals,
   * also those that are not in slots: there are many more of them.
   */
  static final double MOSTLY_IDLE = 0.8;

  /** Of idle objects this share had been used for no longer than others are waited for. */
  static final double USED_QUANTILE = 0.75;

  static final int FEWEST_IN_LAST_THIRD = 2;

  /** Three phases of a program that each make something for good are not a leak yet. */
  static final int FEWEST_MOMENTS = 4;

  /** Births within this share of the time of arrivals are one moment. */
  static final double MOMENT_SHARE = 1 / 24.0;

  /** Arrivals have ended if it would be quiet for so long with less than this probability. */
  static final double ENDED = 0.02;

  /**
   * Sites are sampled less the more they allocate: so many times as seldom at the most in as many
   * times the time.
   */
  static final double FEWER_SAMPLES = 2;

  static final double PLATEAU = 0.7;

  /** The estimate ends where fewer than this share of those idle for the threshold are left. */
  static final double PLATEAU_HORIZON = 0.2;

  /** Programs leave crumbs; the JVM does. */
  static final double LEAST_BYTES = 64 << 10;

  /** What the allocator counts of an object that fills the largest slot. */
  static final long LARGEST_PLACED_BYTES = (16L << 20) - 8;

  /** Growth is what became idle in the last so many floors, if that is not before two thirds. */
  static final double GROWTH_FLOORS = 12;

  /** Of fewer samples in that time no growth is told. */
  static final int FEWEST_FOR_GROWTH = 3;

  // ---- Growing

  /** Live bytes are looked at over so many floors: an hour for a service. */
  static final double TREND_FLOORS = 12;

  /** Of which so many are enough. */
  static final double FEWEST_TREND_FLOORS = 3;

  /** Figures of that time that are kept. */
  static final int TREND_POINTS = 32;

  /** Of which so many are enough. */
  static final int FEWEST_TREND_POINTS = 6;

  /** Live bytes rise by so many standard errors of what is live now. */
  static final double TREND_ERRORS = 4;

  /** And by this share of it. */
  static final double TREND_SHARE = 0.25;

  /** And by so many bytes. */
  static final double TREND_BYTES = 1 << 20;

  /** Of all pairs of figures this share rises: of three even steps 0.75 do. */
  static final double TREND_RISING_PAIRS = 0.8;

  /** The slope of the last third is such a share of that of the whole time. */
  static final double TREND_STILL_RISING = 0.5;

  // ---- Hysteresis

  /** Seconds between two evaluations, divided by the time scale. */
  static final double PACE_SECONDS = 15;

  /** As many evaluations in a row must say so before a site has another verdict. */
  static final int AGREEING = 3;

  /** As many must speak against a leak before it is none any more. */
  static final int AGREEING_TO_CLEAR = 20;

  // ---- Confidence

  /**
   * How sure a leak is, by the age of its oldest idle object in thresholds, from {@link
   * #CONFIDENT_AGES} on: one less the share of such verdicts that were wrong in simulations of
   * sites that leak and sites that do not, {@code VerdictSimulationTest}, rounded down. The test
   * measures it again. What is wrong early is a timeout that has not run out once.
   */
  private static final double[] CONFIDENCE = {0.7, 0.9, 0.98};

  private static final double[] CONFIDENT_AGES = {0, 4, 6};

  private LeakThresholds() {}

  /**
   * How likely the verdict is right.
   *
   * @param age of the oldest idle object, in thresholds
   */
  static double confidence(double age) {
    int row = 0;
    while (row + 1 < CONFIDENT_AGES.length && age >= CONFIDENT_AGES[row + 1]) {
      row++;
    }
    return CONFIDENCE[row];
  }
}
