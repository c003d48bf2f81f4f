package io.mallometer.internal.leak;

/**
 * The numbers by which sites are judged, which are equal for all programs and sites. {@code
 * docs/explanation/leaks.md} explains them. Three settings change the test: {@code leak.workload}
 * sets the floor, the shortest idle time that can make an object part of a leak or pool. {@code
 * leak.longest-timeout} sets the longest time for which the program does not access an object that
 * it still needs. {@code leak.time-scale} divides all times, for tests.
 *
 * <p>A site is a leak if all these conditions hold:
 *
 * <ul>
 *   <li>Idle objects: at least {@link #FEWEST_IDLE} sampled objects have been idle for longer than
 *       a threshold. The threshold is the largest of five values: the floor of the workload, {@link
 *       #LEAST_EPOCHS} epochs, and three values of the site's objects. These are {@link
 *       #IDLE_FACTOR} times the {@link #IDLE_QUANTILE} quantile of the idle time before the free,
 *       {@link #LIFETIME_FACTOR} times the {@link #LIFETIME_QUANTILE} quantile of the lifetime, and
 *       {@link #GAP_FACTOR} times the {@link #GAP_QUANTILE} quantile of the gap between two uses.
 *   <li>Arrivals: the site keeps allocating objects that become idle. The births of its idle
 *       objects are examined in one period. The examined period begins at the birth of the first
 *       idle object. It ends before the present, because objects that were born later are too young
 *       to be idle. The examined period is long enough ({@link #ARRIVAL_SPAN}). Enough births are
 *       in its last two thirds ({@link #ARRIVAL_SHARE}), at least one is in the middle third, and
 *       at least {@link #FEWEST_IN_LAST_THIRD} are in the last third. The births are at {@link
 *       #FEWEST_MOMENTS} moments or more. They have neither fallen off ({@link #FALLEN_SHARE}) nor
 *       ended ({@link #ENDED_PROBABILITY}).
 *   <li>Staying: idle objects stay idle. At least a share of {@link #STAYING_SHARE} of the objects
 *       that were idle for the threshold is neither used nor freed afterwards. {@link IdleSurvival}
 *       estimates this share.
 *   <li>Timeout: at least {@link #FEWEST_OUTLASTED} objects have been idle for longer than {@code
 *       leak.longest-timeout}, and one of them for at least this timeout plus {@link
 *       #OUTLASTED_SECONDS}.
 *   <li>No random use: let s be {@code leak.longest-timeout} plus {@link #OUTLASTED_SECONDS}. The
 *       idle times that are at least s/2 add up to {@link #EXCLUDED_GAPS} times s or more. Such a
 *       sum is improbable if the objects are used at random, once in s seconds on average.
 *   <li>Size: the idle objects have {@link #LEAST_BYTES} or more.
 * </ul>
 *
 * <p>A site that fails only the condition on arrivals, on the timeout or on random use has the
 * verdict UNUSED. A site that fails the condition on staying has the verdict POOL.
 */
public final class LeakThresholds {

  /**
   * A call site must have at least this many idle samples to be a leak, because a few idle samples
   * may be outliers. Outliers mislead a test that compares idle times with a fixed limit, such as
   * the test of SWAT (Hauswirth and Chilimbi, 2004).
   */
  static final int FEWEST_IDLE = 5;

  static final double IDLE_QUANTILE = 0.95;
  static final double IDLE_FACTOR = 4;
  static final double LIFETIME_QUANTILE = 0.95;
  static final double LIFETIME_FACTOR = 2;
  static final double GAP_QUANTILE = 0.99;
  static final double GAP_FACTOR = 3;

  /**
   * The shortest time without access after which an object may count as idle, in epochs. An epoch
   * is the time between two readings of the accessed bits. A single epoch is not enough, because
   * the kernel may clear accessed bits itself.
   */
  static final double LEAST_EPOCHS = 3;

  /**
   * The least length of the examined period, as a multiple of the idle threshold (the time without
   * access after which an object is idle). The period begins at the birth of the first idle object.
   * It ends before the present, because the youngest objects cannot be idle yet. In a shorter
   * period, objects that a program allocates only at its start could look like a leak.
   */
  static final double ARRIVAL_SPAN = 2;

  /**
   * A leak must have at least this share of its births in the last two thirds of the examined
   * period ({@link #ARRIVAL_SPAN}), even at the lower bound of the share's confidence interval. The
   * share is 0.67 for steady births, and at most 0.27 for births that fall off like 1/t.
   */
  static final double ARRIVAL_SHARE = 0.35;

  /**
   * Births have fallen off if the last third of the examined period ({@link #ARRIVAL_SPAN}) has far
   * fewer births than the first third. The births of these two thirds are added up, and the share
   * of the last third in this sum is computed. Even the upper bound of the share's confidence
   * interval must be below this value. The share is 0.5 for steady births.
   */
  static final double FALLEN_SHARE = 0.25;

  /**
   * The number of standard errors between an estimated share and its upper or lower bound. With one
   * standard error, the true share is beyond that bound with a probability of 16 %.
   */
  static final double ARRIVAL_ERRORS = 1;

  /**
   * Usually, {@link AllocationTrend} examines only the births of idle objects. It examines the
   * births of all observable objects if at least this share of these objects is idle. Objects that
   * are too young to be idle do not count.
   */
  static final double MOSTLY_IDLE = 0.8;

  /**
   * The quantile in {@code LeakTest.usualUse()}, which estimates how long a program usually uses an
   * object.
   */
  static final double USED_QUANTILE = 0.75;

  static final int FEWEST_IN_LAST_THIRD = 2;

  /**
   * The idle objects of a leak must have been born at this many moments or more. Three phases of a
   * program that each keep some objects are no leak.
   */
  static final int FEWEST_MOMENTS = 4;

  /**
   * Births within a short time count as one moment. The longest such time is this share of the
   * length of the examined period ({@link #ARRIVAL_SPAN}).
   */
  static final double MOMENT_SHARE = 1 / 24.0;

  /**
   * Births of idle objects have ended if the pause since the latest birth is too long for a steady
   * rate of births: such a pause would have a probability below this value.
   */
  static final double ENDED_PROBABILITY = 0.02;

  /**
   * A site is sampled more seldom the more it has allocated. The mean gap between its samples is
   * assumed to grow at most by this factor.
   */
  static final double FEWER_SAMPLES = 2;

  static final double STAYING_SHARE = 0.7;

  /**
   * {@link IdleSurvival} ignores an idle time if at most this share of the idle objects reached it,
   * because so few objects should not decide the result.
   */
  static final double SURVIVAL_HORIZON = 0.2;

  /** The fewest bytes of a leak. Programs and the JVM leave smaller amounts unfreed. */
  static final double LEAST_BYTES = 1 << 20;

  /**
   * The largest number of bytes, as counted by the allocator, of an object in a slot. Each object
   * in a slot has its own pages, where accesses are observed.
   */
  static final long LARGEST_PLACED_BYTES = (16L << 20) - 8;

  static final int FEWEST_FOR_GROWTH = 3;

  /**
   * The shortest time over which a growth rate is computed, in seconds; {@code leak.time-scale}
   * divides it. With few samples the time is longer. A site without a new sample for half of this
   * time may have stopped growing.
   */
  static final double GROWTH_RATE_SECONDS = 180;

  static final int LATEST_SAMPLES = 20;

  /**
   * A site has stopped growing if no sample came for this many times the mean gap between samples.
   * Steady arrivals pause that long in 1 of 400 evaluations.
   */
  static final double QUIET_GAPS = 6;

  // ---- Thresholds for growing sites

  /**
   * The windows of growth in seconds, shortest first; {@code leak.time-scale} divides them. Large
   * objects that are born seldom need a longer window.
   */
  static final double[] GROWTH_SECONDS = {90, 120, 180, 900, 3_600};

  static final int FEWEST_BORN = 8;

  /**
   * The samples born in the window must have at least this effective sample size (Kish): the number
   * of equally weighted samples that would be as precise.
   */
  static final double FEWEST_EFFECTIVE_BORN = 6;

  /**
   * A site grows only if no quarter of the window has more than this share of the samples that were
   * born in the window. A larger share is a burst.
   */
  static final double MOST_IN_A_QUARTER = 0.6;

  /**
   * A growing site's live bytes must increase by at least this share of the bytes that it allocated
   * in the window and still holds. A smaller increase means that many older objects were freed.
   */
  static final double KEPT_SHARE_OF_BORN = 0.5;

  // ---- Thresholds for growth after an attach

  /**
   * After an attach, a site's new objects may merely replace objects from before the attach. So the
   * site's increase must exceed the freed bytes of those earlier objects by this many standard
   * errors. Chance exceeds this bound in 1 of 30,000 evaluations.
   */
  static final double REPLACED_ERRORS = 4;

  /**
   * A site counts as risen if its live bytes rose by this many standard errors. Chance alone causes
   * such a rise in 1 of 40 comparisons.
   */
  static final double RISEN_ERRORS = 2;

  // ---- Thresholds for unused memory

  /** The least idle time of an unused object, in seconds; {@code leak.time-scale} divides it. */
  static final double UNUSED_SECONDS = 90;

  /**
   * Memory is unused only if one of its objects has been idle for this time, in seconds; {@code
   * leak.time-scale} divides it.
   */
  static final double LONGEST_UNUSED_SECONDS = 120;

  static final double UNUSED_OBJECT_SECONDS = 600;

  static final double UNUSED_SHARE = 0.5;

  static final int FEWEST_IDLE_LEFT = 3;

  static final double UNUSED_SHARE_LEFT = 0.25;

  /**
   * Idle times refute the hypothesis that objects are used at random times with a mean gap g, if
   * their sum is at least this multiple of g. Under this hypothesis, the probability of no use in t
   * seconds is exp(-t / g), which is 1 % for t = 4.6 g.
   */
  static final double EXCLUDED_GAPS = 4.6;

  // ---- Thresholds for objects that were idle for longer than leak.longest-timeout

  /**
   * A leak must have an object that was idle for at least {@code leak.longest-timeout} plus this
   * many seconds; {@code leak.time-scale} divides both times.
   */
  static final double OUTLASTED_SECONDS = 300;

  /**
   * An object counts as idle for longer than {@code leak.longest-timeout} only if the probability
   * that it was used meanwhile without leaving a trace is at most this value.
   */
  static final double HIDDEN_PROBABILITY = 0.01;

  /**
   * A leak must have at least this many objects that were idle for longer than {@code
   * leak.longest-timeout}, because a single one may be an outlier.
   */
  static final int FEWEST_OUTLASTED = 2;

  // ---- Thresholds for lost memory, to which no pointer is left

  static final double SEARCH_SHARE = 0.001;

  /**
   * The maximum of the CPU time that can be saved up for searches, in seconds; also the initial
   * amount. It pays for one search of {@link #SEARCHED_BYTES}.
   */
  static final double SEARCH_CREDIT_SECONDS = 6;

  /** The shortest time between two searches, in seconds; {@code leak.time-scale} divides it. */
  static final double SEARCH_PAUSE_SECONDS = 60;

  /**
   * Memory is searched again after this time, even if nothing changed and the CPU time for searches
   * is used up. In seconds; {@code leak.time-scale} divides it.
   */
  static final double SEARCH_REPEAT_SECONDS = 3_600;

  /**
   * A search follows a garbage collection if the unused bytes have grown by this factor since the
   * previous search. Bytes that are proved lost do not count.
   */
  static final double SEARCH_GROWTH = 1.25;

  /** The most bytes that one search reads, which takes six seconds of CPU time. */
  static final long SEARCHED_BYTES = 16L << 30;

  /**
   * The largest share of the resident bytes that a search may leave unread, because memory was
   * freed meanwhile. A larger share means that the search reached a limit.
   */
  static final double UNSEARCHED_SHARE = 0.01;

  static final int FEWEST_SEARCHED = 5;

  /**
   * A site loses memory if the searches find no address for at least this share of the objects that
   * they look for.
   */
  static final double LOST_SHARE = 0.5;

  /**
   * Registers that could not be read may contain addresses. So a loss is proved only if more than
   * this many objects are lost for each thread with unread registers.
   */
  static final double LOST_FOR_EACH_THREAD = 4;

  // ---- Threshold for leaks of earlier runs

  /**
   * A growing, unused site that was a leak in an earlier run is a leak again if its longest idle
   * time has at least this value, in seconds; {@code leak.time-scale} divides it.
   */
  static final double KNOWN_UNUSED_SECONDS = 300;

  // ---- Evaluations, and the confidence in a verdict

  /** The time between two evaluations, in seconds; {@code leak.time-scale} divides it. */
  static final double EVALUATION_SECONDS = 15;

  static final int EVALUATIONS_TO_CHANGE = 3;

  static final int EVALUATIONS_TO_CLEAR = 20;

  /**
   * The probability that objects with an idle time above {@code leak.longest-timeout} are a leak:
   * the share of right verdicts in {@code VerdictSimulationTest}, rounded down. The program is
   * assumed to have no timeout that is longer than this setting.
   */
  static final double CONFIDENCE = 0.95;

  private LeakThresholds() {}
}
