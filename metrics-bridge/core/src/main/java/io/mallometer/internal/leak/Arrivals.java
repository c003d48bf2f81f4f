package io.mallometer.internal.leak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Whether idle objects keep arriving, by the births of those that are idle.
 *
 * <p>The time of arrivals goes from the first of these births to the latest moment at which an
 * object can have been born that is idle by now. The first birth begins that time and says nothing
 * else; the others would be spread evenly in it if a steady leak made them.
 */
final class Arrivals {

  private static final int THIRDS = 3;

  /**
   * The birth of an idle object.
   *
   * @param age how long ago, in seconds
   * @param weight how many objects it stands for
   * @param probability with which such an object is sampled
   */
  record Birth(double age, double weight, double probability) {}

  private final List<Birth> others;
  private final double firstAge;
  private final double threshold;
  private final double lag;

  /** The time of arrivals. */
  private final double seconds;

  /**
   * Arrivals.
   *
   * @param births at least one, in any order
   * @param threshold the idle time from which on objects are idle, in seconds
   * @param lag the age from which on they can be: the threshold, and for how long they are used
   */
  Arrivals(List<Birth> births, double threshold, double lag) {
    List<Birth> oldestFirst = new ArrayList<>(births);
    oldestFirst.sort(Comparator.comparingDouble(Birth::age).reversed());
    this.firstAge = oldestFirst.get(0).age();
    this.others = oldestFirst.subList(1, oldestFirst.size());
    this.threshold = threshold;
    this.lag = lag;
    this.seconds = firstAge - lag;
  }

  /** The time of arrivals, in seconds. */
  double seconds() {
    return seconds;
  }

  /** Whether that is long enough to tell. */
  boolean telling() {
    return seconds >= LeakThresholds.ARRIVAL_SPAN * threshold;
  }

  /**
   * Whether they keep arriving, if it is.
   *
   * @param since how many live samples of the site are too young to be idle
   */
  boolean continuing(long since) {
    return in(1) >= 1
        && in(2) >= LeakThresholds.FEWEST_IN_LAST_THIRD
        && lowerBoundOfLateShare() >= LeakThresholds.ARRIVAL_SHARE
        && moments() >= LeakThresholds.FEWEST_MOMENTS
        && !ceased(since);
  }

  /** Whether surely no more come, or many fewer. */
  boolean ceased(long since) {
    return fallsOff() || ended(since);
  }

  private int third(Birth birth) {
    return (int) Math.max(0, Math.min(THIRDS - 1, THIRDS * (firstAge - birth.age()) / seconds));
  }

  private long in(int third) {
    long count = 0;
    for (Birth birth : others) {
      count += third(birth) == third ? 1 : 0;
    }
    return count;
  }

  private double lowerBoundOfLateShare() {
    return wilson(share(others, 1), effective(others), -LeakThresholds.ARRIVAL_ERRORS);
  }

  /** Whether the last third has surely much less than the first: what a program warms up with. */
  private boolean fallsOff() {
    List<Birth> ends = new ArrayList<>(others);
    ends.removeIf(birth -> third(birth) == 1);
    double high = wilson(share(ends, 2), effective(ends), LeakThresholds.ARRIVAL_ERRORS);
    return high < LeakThresholds.FALLEN_SHARE;
  }

  /** What of the weight was born in a third or later. */
  private double share(List<Birth> births, int from) {
    double late = 0;
    double all = 0;
    for (Birth birth : births) {
      all += birth.weight();
      late += third(birth) >= from ? birth.weight() : 0;
    }
    return late / all;
  }

  /**
   * An end of Wilson's interval.
   *
   * @param count as many equal samples as the weighted ones count for
   * @param errors how many standard errors off, below zero for the lower end
   */
  static double wilson(double share, double count, double errors) {
    double z2 = errors * errors;
    double spread = share * (1 - share) / count + z2 / (4 * count * count);
    double centre = share + z2 / (2 * count);
    return (centre + errors * Math.sqrt(spread)) / (1 + z2 / count);
  }

  /** As many equally weighted samples would tell as much (Kish). */
  static double effective(List<Birth> births) {
    double sum = 0;
    double squares = 0;
    for (Birth birth : births) {
      sum += birth.weight();
      squares += birth.weight() * birth.weight();
    }
    return squares > 0 ? sum * sum / squares : 0;
  }

  /** At how many moments they were born, each as long as it may be, the first included. */
  private int moments() {
    int moments = 1;
    double begin = firstAge;
    for (Birth birth : others) {
      if (begin - birth.age() > LeakThresholds.MOMENT_SHARE * seconds) {
        moments++;
        begin = birth.age();
      }
    }
    return moments;
  }

  /**
   * Whether it has been quiet for too long: as if no moment had come that should have. By moments,
   * not births, so that a batch now and then is one. As long as anything is born, nobody can tell
   * of it whether it will be idle, and only the time before is quiet.
   */
  boolean ended(long since) {
    if (others.isEmpty()) {
      return false;
    }
    double latest = others.get(others.size() - 1).age();
    double quiet = since > 0 ? latest - lag : latest;
    double rate = (moments() - 1) / (firstAge - latest);
    return Math.exp(-rate * quiet / LeakThresholds.FEWER_SAMPLES) < LeakThresholds.ENDED;
  }
}
