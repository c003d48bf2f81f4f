package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.SampledObject;
import io.mallometer.internal.interposer.SiteUse;
import io.mallometer.internal.leak.Judgement.Idle;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The test for one site, or for several that are judged as one: {@link LeakThresholds} says what it
 * asks. Pure: the same facts have the same outcome.
 *
 * <p>How much leaks is told apart from whether something does. Only few samples are in slots, so
 * what share of the objects older than the threshold is idle comes from those, by weights of 1 /
 * (probability * placement); how many such objects there are comes from all samples, by weights of
 * 1 / probability. The product has the relative variances of both.
 */
final class LeakTest {

  private static final double HOUR = 3_600;

  private final List<SampledObject> live;
  private final List<SampledObject> stale;
  private final SiteUse use;
  private final Window window;
  private final double threshold;

  /**
   * By site, when the first was born of its objects in slots; those before had no chance of one.
   */
  private final Map<Integer, Long> firstInSlot = new HashMap<>();

  private LeakTest(
      List<SampledObject> live,
      List<SampledObject> stale,
      SiteUse use,
      Window window,
      double threshold) {
    this.live = live;
    this.stale = stale;
    this.use = use;
    this.window = window;
    this.threshold = threshold;
    for (SampledObject object : live) {
      if (object.inSlot()) {
        firstInSlot.merge(object.site(), object.bornNanos(), LeakTest::earlier);
      }
    }
  }

  private static long earlier(long one, long other) {
    return one - other < 0 ? one : other;
  }

  /**
   * Judges.
   *
   * @param live the live samples
   * @param use how long such objects lived and were idle so far
   */
  static Judgement judge(List<SampledObject> live, SiteUse use, Window window) {
    List<SampledObject> inSlots = those(live, SampledObject::inSlot);
    if (inSlots.isEmpty()) {
      return Judgement.unseen();
    }
    Judgement judged = judge(live, inSlots, use, window, window.times().floorSeconds(), false);
    return judged.verdict() != Verdict.HEALTHY
        ? judged
        : earlier(judged, judge(live, inSlots, use, window, soonest(window), true));
  }

  private static double soonest(Window window) {
    return LeakThresholds.UNUSED_SECONDS / window.times().scale();
  }

  /** How many are used that could be idle by now; 0 if most of those are idle. */
  private static int inUse(List<SampledObject> inSlots, double threshold, Window window) {
    int old = 0;
    int used = 0;
    for (SampledObject object : inSlots) {
      if (window.ageSeconds(object) > threshold) {
        old++;
        used += window.idleSeconds(object) <= threshold ? 1 : 0;
      }
    }
    return 2 * used > old ? used : 0;
  }

  /** What is found sooner; it does not tell whether what was a leak is none any more. */
  private static Judgement earlier(Judgement judged, Judgement sooner) {
    return sooner.verdict() == Verdict.UNUSED ? sooner.refuting(judged.refutesLeak()) : judged;
  }

  private static Judgement judge(
      List<SampledObject> live,
      List<SampledObject> inSlots,
      SiteUse use,
      Window window,
      double floor,
      boolean soon) {
    double threshold = threshold(use, window, floor);
    List<SampledObject> stale = those(inSlots, object -> window.idleSeconds(object) > threshold);
    if (stale.isEmpty()) {
      return Judgement.used(
          threshold,
          inUse(inSlots, threshold(use, window, soonest(window)), window),
          isUsed(inSlots, use, window, threshold));
    }
    LeakTest test = new LeakTest(live, stale, use, window, threshold);
    return soon ? test.judgeSoon() : test.judge();
  }

  /**
   * Whether objects are used or freed, of which none is idle for the threshold: not if it is longer
   * than they can be idle by now, and those that are idle for less stay so.
   */
  private static boolean isUsed(
      List<SampledObject> inSlots, SiteUse use, Window window, double threshold) {
    return window.observedSeconds() >= LeakThresholds.ARRIVAL_SPAN * threshold
        || !those(inSlots, object -> window.ageSeconds(object) > threshold).isEmpty()
        || Plateau.of(inSlots, use, soonest(window), window) < LeakThresholds.PLATEAU;
  }

  private static List<SampledObject> those(
      List<SampledObject> objects, Predicate<SampledObject> wanted) {
    List<SampledObject> found = new ArrayList<>();
    for (SampledObject object : objects) {
      if (wanted.test(object)) {
        found.add(object);
      }
    }
    return found;
  }

  /** The idle time from which on objects count as idle, in seconds. */
  static double threshold(SiteUse use, Window window, double floor) {
    double own =
        Math.max(
            LeakThresholds.IDLE_FACTOR
                * use.idleBeforeFree().quantile(LeakThresholds.IDLE_QUANTILE),
            Math.max(
                LeakThresholds.LIFETIME_FACTOR
                    * use.lifetimes().quantile(LeakThresholds.LIFETIME_QUANTILE),
                LeakThresholds.GAP_FACTOR * use.gaps().quantile(LeakThresholds.GAP_QUANTILE)));
    return Math.max(own, Math.max(floor, LeakThresholds.EPOCHS * window.epochSeconds()));
  }

  private Judgement judge() {
    double lag = threshold + usualUse();
    Arrivals arrivals = new Arrivals(births(lag), threshold, lag);
    List<SampledObject> old = those(live, object -> isOlder(object, threshold));
    Share ofBytes = share(old, stale, SampledObject::bytes);
    Share ofObjects = share(old, stale, LeakTest::one);
    Estimate bytes = ofBytes.times(bytes(old));
    boolean enough =
        stale.size() >= LeakThresholds.FEWEST_STALE
            && bytes.value() >= LeakThresholds.LEAST_BYTES
            && arrivals.telling();
    long since = youngerThan(lag);
    boolean staying = Plateau.of(live, use, threshold, window) >= LeakThresholds.PLATEAU;
    boolean ceased = arrivals.ceased(since);
    boolean leaks = enough && staying && !ceased && arrivals.continuing(since);
    return new Judgement(
        enough ? verdict(leaks, staying) : Verdict.HEALTHY,
        idle(old),
        suspected(ofBytes, ofObjects),
        ceased ? Double.NaN : growth(arrivals, lag) * ofBytes.share(),
        enough && !leaks ? acquittal(ceased, staying) : null,
        !staying || arrivals.ended(since),
        null,
        null,
        null);
  }

  private Verdict verdict(boolean leaks, boolean staying) {
    if (leaks) {
      return outlasted();
    }
    return staying ? Verdict.UNUSED : Verdict.POOL;
  }

  /** As many as make a suspicion: one alone may be an odd one. */
  private Verdict outlasted() {
    long count = those(stale, window::hasOutlasted).size();
    return count >= LeakThresholds.FEWEST_STALE ? Verdict.LEAK : Verdict.UNUSED;
  }

  /** Whether they are unused so far: nothing is known yet of timeouts, scans and swaps. */
  private Judgement judgeSoon() {
    List<SampledObject> old = those(live, object -> isOlder(object, threshold));
    Share ofBytes = share(old, stale, SampledObject::bytes);
    Share ofObjects = share(old, stale, LeakTest::one);
    Estimate bytes = ofBytes.times(bytes(old));
    Idle idle = idle(old);
    double scale = window.times().scale();
    boolean unused =
        idle.count() >= LeakThresholds.FEWEST_STALE
            && idle.longestSeconds() >= LeakThresholds.LONGEST_UNUSED_SECONDS / scale
            && idle.objectSeconds() >= LeakThresholds.UNUSED_OBJECT_SECONDS / scale
            && ofObjects.share() >= LeakThresholds.UNUSED_SHARE
            && bytes.value() >= LeakThresholds.LEAST_BYTES;
    Verdict verdict = unused ? Verdict.UNUSED : Verdict.HEALTHY;
    Suspected suspected = suspected(ofBytes, ofObjects);
    return new Judgement(verdict, idle, suspected, Double.NaN, null, false, null, null, null);
  }

  /**
   * Returns the idle objects, estimated as the idle share of the objects in slots, times all
   * observable objects. The library gives a site no slot in its first epochs. Objects from these
   * epochs have no part in the verdict, but they count here, because the same code allocates and
   * uses them.
   */
  private Suspected suspected(Share ofBytes, Share ofObjects) {
    List<SampledObject> all = observable(live, window, threshold);
    return new Suspected(
        ofBytes.times(bytes(all)),
        ofObjects.times(objects(all)),
        threshold,
        leastIdleSeconds(),
        medianAge(),
        oldestSeconds());
  }

  /**
   * Returns how many objects are idle, or could be idle even if they were used while they were
   * initialized.
   */
  private int watched(List<SampledObject> old) {
    double least = threshold + LeakThresholds.EPOCHS * window.epochSeconds();
    return stale.size()
        + those(
                old,
                object ->
                    object.inSlot()
                        && window.ageSeconds(object) >= least
                        && window.idleSeconds(object) <= threshold)
            .size();
  }

  private Idle idle(List<SampledObject> old) {
    double longest = 0;
    double all = 0;
    for (SampledObject object : stale) {
      double seconds = window.idleSeconds(object);
      longest = Math.max(longest, seconds);
      all += seconds;
    }
    return new Idle(stale.size(), watched(old), longest, all, isUntouched(old));
  }

  /** Whether none was ever used later than some epochs after it was allocated. */
  private boolean isUntouched(List<SampledObject> old) {
    double least = LeakThresholds.EPOCHS * window.epochSeconds();
    return use.gaps().count() == 0
        && those(old, object -> object.inSlot() && usedFor(object) > least).isEmpty();
  }

  private static double usedFor(SampledObject object) {
    return (object.lastAccessNanos() - object.bornNanos()) / 1e9;
  }

  private static double one(SampledObject object) {
    return 1;
  }

  private double oldestSeconds() {
    double oldest = Double.NEGATIVE_INFINITY;
    for (SampledObject object : stale) {
      oldest = Math.max(oldest, window.ageSeconds(object));
    }
    return oldest;
  }

  private double leastIdleSeconds() {
    double least = Double.POSITIVE_INFINITY;
    for (SampledObject object : stale) {
      least = Math.min(least, window.idleSeconds(object));
    }
    return least;
  }

  /** How many cannot be idle yet. */
  private long youngerThan(double seconds) {
    long count = 0;
    for (SampledObject object : live) {
      count += window.ageSeconds(object) <= seconds ? 1 : 0;
    }
    return count;
  }

  private static Acquittal acquittal(boolean ceased, boolean staying) {
    if (!staying) {
      return Acquittal.USED_AGAIN;
    }
    return ceased ? Acquittal.CEASED : Acquittal.TOO_FEW;
  }

  /** For how long most of the idle objects were used, in seconds. */
  private double usualUse() {
    double[] used = new double[stale.size()];
    for (int i = 0; i < used.length; i++) {
      used[i] = usedFor(stale.get(i));
    }
    Arrays.sort(used);
    return used[(int) (LeakThresholds.USED_QUANTILE * (used.length - 1))];
  }

  /** Of idle objects that are old enough; of all that are, if most of these are idle. */
  private List<Arrivals.Birth> births(double lag) {
    List<SampledObject> old = those(live, object -> isOlder(object, lag));
    List<SampledObject> idle = those(stale, object -> isOlder(object, lag));
    boolean mostly = share(old, idle, LeakTest::one).share() >= LeakThresholds.MOSTLY_IDLE;
    return mostly
        ? births(observable(live, window, lag), this::birth)
        : births(idle, this::birthInSlot);
  }

  private static List<Arrivals.Birth> births(
      List<SampledObject> objects, Function<SampledObject, Arrivals.Birth> birth) {
    List<Arrivals.Birth> births = new ArrayList<>(objects.size());
    for (SampledObject object : objects) {
      births.add(birth.apply(object));
    }
    return births;
  }

  /**
   * Returns the objects of at least an age that are in a slot, or could be in one by their size and
   * birth. Objects from before the site's first slot also show when objects arrive and how many
   * there are. Every object in a slot counts, so that each idle object has an arrival.
   */
  static List<SampledObject> observable(List<SampledObject> live, Window window, double seconds) {
    return those(
        live,
        object ->
            window.ageSeconds(object) >= seconds
                && (object.inSlot()
                    || object.bornNanos() - window.startedNanos() >= 0
                        && object.bytes() <= LeakThresholds.LARGEST_PLACED_BYTES));
  }

  private Arrivals.Birth birth(SampledObject object) {
    return new Arrivals.Birth(window.ageSeconds(object), object.weight(), object.probability());
  }

  private Arrivals.Birth birthInSlot(SampledObject object) {
    return new Arrivals.Birth(window.ageSeconds(object), object.slotWeight(), object.probability());
  }

  /** At least so old, and in a slot, or so young and small that it could have been in one. */
  private boolean isOlder(SampledObject object, double seconds) {
    return window.ageSeconds(object) >= seconds && (object.inSlot() || isComparable(object));
  }

  private boolean isComparable(SampledObject object) {
    @Nullable Long first = firstInSlot.get(object.site());
    return first != null
        && object.bornNanos() - first >= 0
        && object.bytes() <= LeakThresholds.LARGEST_PLACED_BYTES;
  }

  private static double medianAgeWeight(SampledObject object) {
    return object.slotWeight() * object.bytes();
  }

  private double medianAge() {
    List<SampledObject> youngestFirst = new ArrayList<>(stale);
    youngestFirst.sort(Comparator.comparingDouble(window::ageSeconds));
    double half = youngestFirst.stream().mapToDouble(LeakTest::medianAgeWeight).sum() / 2;
    int i = 0;
    while (i < youngestFirst.size() - 1 && half > medianAgeWeight(youngestFirst.get(i))) {
      half -= medianAgeWeight(youngestFirst.get(i));
      i++;
    }
    return window.ageSeconds(youngestFirst.get(i));
  }

  /** Bytes that arrived each hour of late, used or not. */
  private double growth(Arrivals arrivals, double lag) {
    double most = Math.max(LeakThresholds.GROWTH_FLOORS * window.times().floorSeconds(), threshold);
    double rate = rate(lag, Math.min(2 * arrivals.seconds() / 3, most));
    return Double.isNaN(rate) ? rate(lag, arrivals.seconds()) : rate;
  }

  /** {@code NaN} if there are too few. */
  private double rate(double lag, double seconds) {
    List<SampledObject> recent =
        those(observable(live, window, lag), object -> window.ageSeconds(object) <= lag + seconds);
    return recent.size() < LeakThresholds.FEWEST_FOR_GROWTH || !(seconds > 0)
        ? Double.NaN
        : bytes(recent).value() / seconds * HOUR;
  }

  static Estimate bytes(List<SampledObject> objects) {
    return total(objects, SampledObject::bytes);
  }

  static Estimate objects(List<SampledObject> objects) {
    return total(objects, LeakTest::one);
  }

  /** What samples stand for (Horvitz and Thompson). */
  private static Estimate total(
      List<SampledObject> objects, ToDoubleFunction<SampledObject> figure) {
    double value = 0;
    double variance = 0;
    for (SampledObject object : objects) {
      double weighted = object.weight() * figure.applyAsDouble(object);
      value += weighted;
      variance += (1 - object.probability()) * weighted * weighted;
    }
    return new Estimate(value, variance, objects.size());
  }

  /** Returns the idle share of the objects that are old enough. */
  private static Share share(
      List<SampledObject> old, List<SampledObject> stale, ToDoubleFunction<SampledObject> figure) {
    double all = 0;
    double squares = 0;
    for (SampledObject object : old) {
      if (object.inSlot()) {
        double weighted = object.slotWeight() * figure.applyAsDouble(object);
        all += weighted;
        squares += weighted * weighted;
      }
    }
    double idle = 0;
    for (SampledObject object : stale) {
      idle += object.slotWeight() * figure.applyAsDouble(object);
    }
    return Share.of(idle, all, squares);
  }
}
