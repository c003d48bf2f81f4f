package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.SampledObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a call site still allocates objects that become idle. The decision is based on
 * the times at which its idle objects were allocated.
 *
 * <p>Only allocations in one period are examined. This examined period begins when the first idle
 * object was allocated. It ends {@code lag} seconds before the end of the observation, because
 * later objects cannot be idle yet. A steady leak spreads its allocations evenly over the examined
 * period.
 *
 * <p>The caller judges the objects of several stacks in two ways: as if one stack had allocated all
 * of them, and with a separate examined period for each stack. The first way alone would mistake
 * several stacks that allocated once, one after the other, for a steady leak.
 */
final class AllocationTrend {

  private static final int THIRDS = 3;

  /**
   * The allocation of an object.
   *
   * @param site the number of the call site, or 0 for all sites together
   * @param age the age of the object, in seconds
   * @param weight the number of objects that the sample stands for
   */
  record Birth(int site, double age, double weight) {

    Birth ofSite(int other) {
      return new Birth(other, age, weight);
    }
  }

  private final List<Birth> laterBirths = new ArrayList<>();

  /**
   * The position of each of the {@link #laterBirths} in the examined period: 0 in the first third,
   * 1 in the second, 2 in the last. Each site has its own examined period: from its first birth
   * until {@code lag} seconds before the end of the observation.
   */
  private final List<Integer> thirds = new ArrayList<>();

  private final double firstAge;
  private final double threshold;
  private final double lag;

  /**
   * The length of the examined period in seconds: from the first birth until {@code lag} seconds
   * before the end of the observation.
   */
  private final double seconds;

  /**
   * Creates the trend.
   *
   * @param births the births of idle objects, at least one, in any order
   * @param threshold the least idle time of an idle object, in seconds
   * @param lag the threshold plus the time for which objects are usually used, in seconds
   */
  AllocationTrend(List<Birth> births, double threshold, double lag) {
    List<Birth> oldestFirst = new ArrayList<>(births);
    oldestFirst.sort(Comparator.comparingDouble(Birth::age).reversed());
    this.firstAge = oldestFirst.get(0).age();
    Map<Integer, Double> firstAges = new HashMap<>();
    for (Birth birth : oldestFirst) {
      @Nullable Double first = firstAges.putIfAbsent(birth.site(), birth.age());
      if (first != null) {
        double passed = THIRDS * (first - birth.age()) / (first - lag);
        laterBirths.add(birth);
        thirds.add((int) Math.max(0, Math.min(THIRDS - 1, passed)));
      }
    }
    this.threshold = threshold;
    this.lag = lag;
    this.seconds = firstAge - lag;
  }

  /** Returns whether the stacks of the live samples allocate repeatedly, and not only once each. */
  static boolean arriveRepeatedly(List<SampledObject> live, long nowNanos) {
    List<Birth> births = new ArrayList<>(live.size());
    for (SampledObject object : live) {
      double age = (nowNanos - object.bornNanos()) / 1e9;
      births.add(new Birth(object.site(), age, object.weight()));
    }
    return !births.isEmpty()
        && new AllocationTrend(births, 0, 0).lowerBoundOfLateShare()
            >= LeakThresholds.ARRIVAL_SHARE;
  }

  boolean isLongEnough() {
    return seconds >= LeakThresholds.ARRIVAL_SPAN * threshold;
  }

  /**
   * Returns whether the site still allocates objects that become idle; valid only if {@link
   * #isLongEnough()}.
   *
   * @param since the number of live samples of the site that are too young to be idle
   */
  boolean continues(long since) {
    return countIn(1) >= 1
        && countIn(2) >= LeakThresholds.FEWEST_IN_LAST_THIRD
        && lowerBoundOfLateShare() >= LeakThresholds.ARRIVAL_SHARE
        && moments() >= LeakThresholds.FEWEST_MOMENTS
        && !ceased(since);
  }

  boolean ceased(long since) {
    return fallsOff() || ended(since);
  }

  private long countIn(int third) {
    long count = 0;
    for (int of : thirds) {
      count += of == third ? 1 : 0;
    }
    return count;
  }

  private double lowerBoundOfLateShare() {
    return shareBound(-1, 1, -LeakThresholds.ARRIVAL_ERRORS);
  }

  /**
   * Returns whether far fewer objects were allocated in the last third than in the first, and
   * chance does not explain the difference. This is the case if the program has only warmed up.
   */
  private boolean fallsOff() {
    return shareBound(1, 2, LeakThresholds.ARRIVAL_ERRORS) < LeakThresholds.FALLEN_SHARE;
  }

  /**
   * Returns a bound of the confidence interval of the weighted share of late births in {@link
   * #laterBirths}. A birth is late if it was in third {@code from} or later of the examined period;
   * the thirds are numbered 0, 1 and 2.
   *
   * @param without the third whose births are left out; -1 leaves out none
   * @param from the first late third: 1 or 2
   * @param errors the distance from the share in standard errors; negative for the lower bound
   */
  private double shareBound(int without, int from, double errors) {
    List<Birth> all = new ArrayList<>(laterBirths.size());
    double late = 0;
    double sum = 0;
    for (int i = 0; i < laterBirths.size(); i++) {
      int third = thirds.get(i);
      if (third != without) {
        double weight = laterBirths.get(i).weight();
        all.add(laterBirths.get(i));
        sum += weight;
        late += third >= from ? weight : 0;
      }
    }
    return wilsonBound(late / sum, effectiveCount(all), errors);
  }

  /**
   * Returns a bound of Wilson's confidence interval of a share.
   *
   * @param count the effective number of samples
   * @param errors the distance from the share in standard errors; negative for the lower bound
   */
  static double wilsonBound(double share, double count, double errors) {
    double z2 = errors * errors;
    double spread = share * (1 - share) / count + z2 / (4 * count * count);
    double centre = share + z2 / (2 * count);
    return (centre + errors * Math.sqrt(spread)) / (1 + z2 / count);
  }

  /**
   * Returns Kish's effective sample size: the number of equally weighted samples that are as
   * precise as these births.
   */
  static double effectiveCount(List<Birth> births) {
    double sum = 0;
    double squares = 0;
    for (Birth birth : births) {
      sum += birth.weight();
      squares += birth.weight() * birth.weight();
    }
    return squares > 0 ? sum * sum / squares : 0;
  }

  /**
   * Returns the number of moments at which objects were born. Births within a small part ({@link
   * LeakThresholds#MOMENT_SHARE}) of the examined period count as one moment.
   */
  private int moments() {
    int moments = 1;
    double begin = firstAge;
    for (Birth birth : laterBirths) {
      if (begin - birth.age() > LeakThresholds.MOMENT_SHARE * seconds) {
        moments++;
        begin = birth.age();
      }
    }
    return moments;
  }

  /**
   * Returns whether births have ended: the pause since the latest birth is improbably long for the
   * earlier rate of births. Births at one of the {@link #moments} count as one birth.
   *
   * @param since the number of live samples of the site that are too young to be idle. They may
   *     still become idle, so if there are any, {@code lag} seconds are subtracted from the pause
   */
  boolean ended(long since) {
    if (laterBirths.isEmpty()) {
      return false;
    }
    double latest = laterBirths.get(laterBirths.size() - 1).age();
    double quiet = since > 0 ? latest - lag : latest;
    double rate = (moments() - 1) / (firstAge - latest);
    return Math.exp(-rate * quiet / LeakThresholds.FEWER_SAMPLES)
        < LeakThresholds.ENDED_PROBABILITY;
  }
}
