package io.mallometer.internal.leak;

/**
 * Every number by which sites are judged, the same for all programs and sites. {@code
 * docs/explanation/leaks.md} says them in words; only the floor, by the profile, and the time scale
 * can be set.
 *
 * <p>A leak is a site of which all of this holds:
 *
 * <ol>
 *   <li>At least {@link #FEWEST_STALE} sampled objects have been idle longer than a threshold.
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
 *   <li>They outlasted the longest timeout by {@link #OUTLASTED_SECONDS}.
 *   <li>It matters: {@link #LEAST_BYTES} or more.
 * </ol>
 *
 * <p>Without the fifth it is unused; without the fourth, a pool; without some of the third, unused.
 */
public final class LeakThresholds {

  /** SWAT's and any fixed idle time are fooled by a few odd objects. */
  static final int FEWEST_STALE = 5;

  /** Stacks that are judged together are picked for having idle objects: chance has many tries. */
  static final int FEWEST_STALE_TOGETHER = 10;

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
  static final double LEAST_BYTES = 1 << 20;

  /** What the allocator counts of an object that fills the largest slot. */
  static final long LARGEST_PLACED_BYTES = (16L << 20) - 8;

  /** Growth is what became idle in the last so many floors, if that is not before two thirds. */
  static final double GROWTH_FLOORS = 12;

  /** Of fewer samples in that time no growth is told. */
  static final int FEWEST_FOR_GROWTH = 3;

  /**
   * How fast a suspect grows is told of the last minutes, or of the latest samples. Half of that
   * time without a sample is the least for which it is said not to grow.
   */
  static final double PACE_OF_GROWTH_SECONDS = 180;

  static final int LATEST_SAMPLES = 20;

  /**
   * So many times as long as samples were apart, none came: with steady arrivals that happens by
   * chance in 1 of 400 looks.
   */
  static final double QUIET_GAPS = 6;

  // ---- Growing

  /**
   * Births are looked at over as many seconds, divided by the time scale, the fewest first: what
   * comes often is told soon, and large objects that come seldom need longer.
   */
  static final double[] GROWTH_SECONDS = {90, 120, 180, 900, 3_600};

  /** So many live samples were born in that time. */
  static final int FEWEST_BORN = 8;

  /** Where weights differ, as many equal ones would tell as much (Kish). */
  static final double FEWEST_EFFECTIVE_BORN = 6;

  /** No quarter of the time has more of them: a burst does not go on. */
  static final double MOST_IN_A_QUARTER = 0.6;

  /** Of what was born and is live, so much is more than before: the rest replaces what is gone. */
  static final double KEPT_OF_BORN = 0.5;

  // ---- After an attach

  /**
   * A site grows if its increase exceeds the bytes that were freed of the memory from before the
   * attach by this many standard errors. Chance alone does that in 1 of 30,000 evaluations.
   */
  static final double REPLACED_ERRORS = 4;

  /**
   * A site counts as risen if its live bytes rose by this many standard errors. Chance alone does
   * that in 1 of 40 comparisons.
   */
  static final double RISEN_ERRORS = 2;

  // ---- Unused

  /** An object is unused from as many seconds on, divided by the time scale. */
  static final double UNUSED_SECONDS = 90;

  /** The one that is longest unused is so for as many. */
  static final double LONGEST_UNUSED_SECONDS = 120;

  /** Together they were watched for as many: ten object-minutes. */
  static final double UNUSED_OBJECT_SECONDS = 600;

  /** Of the objects that are old enough such a share is unused. */
  static final double UNUSED_SHARE = 0.5;

  /**
   * Random use once in a mean gap g would leave objects alone for t seconds together with
   * probability exp(-t / g), which is 1 % for g = t / 4.6.
   */
  static final double EXCLUDED_GAPS = 4.6;

  // ---- Outlasted

  /** A leak is unused for so many seconds, divided by the time scale, more than any timeout. */
  static final double OUTLASTED_SECONDS = 300;

  // ---- Lost

  /** Two searches of memory, divided by the time scale, begin in as many seconds at the most. */
  static final double SEARCH_PAIR_SECONDS = 3_600;

  /** The second begins so many seconds after the first has ended, divided by the time scale. */
  static final double SEARCH_PAUSE_SECONDS = 60;

  /** No more is searched: six seconds of processor time. */
  static final long SEARCHED_BYTES = 16L << 30;

  /** What goes away while it is searched; more would be a limit that was reached. */
  static final double UNSEARCHED_SHARE = 0.01;

  /** Both search for so many objects of a site. */
  static final int FEWEST_SOUGHT = 5;

  /** Of which this share has no address. */
  static final double LOST_SHARE = 0.5;

  /** The lost ones stand for more objects: a thread may have some in its registers. */
  static final double LOST_FOR_EACH_THREAD = 4;

  // ---- Known

  /**
   * Where the stack was a leak in an earlier run, the one that is longest unused is so for as many
   * seconds, divided by the time scale, while the site grows.
   */
  static final double KNOWN_SECONDS = 300;

  // ---- Hysteresis

  /** Seconds between two evaluations, divided by the time scale. */
  static final double PACE_SECONDS = 15;

  /** As many evaluations in a row must say so before a site has another verdict. */
  static final int AGREEING = 3;

  /** As many must speak against a leak before it is none any more. */
  static final int AGREEING_TO_CLEAR = 20;

  /**
   * How likely a site is a leak whose objects outlasted the longest timeout: the share of such
   * verdicts that were right in simulations, rounded down. {@code VerdictSimulationTest} measures
   * it again. It holds as far as no timeout is longer than the options say.
   */
  static final double CONFIDENCE = 0.95;

  private LeakThresholds() {}
}
