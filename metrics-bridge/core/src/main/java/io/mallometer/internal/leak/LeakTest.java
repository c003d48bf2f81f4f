package io.mallometer.internal.leak;

import io.mallometer.internal.leak.Assessment.Idle;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Tests whether a site, or several that are judged as one, leak. {@link LeakThresholds} describes
 * the test. The result depends only on the arguments.
 *
 * <p>The leaked amount is the number of objects older than the idle threshold, times the idle share
 * of these objects. The number is estimated from all samples: a sample with the probability p has
 * the weight 1 / p. The share is estimated from the few samples in slots (pages of their own, where
 * accesses are observed). A sample in a slot has the weight 1 / (p * q), where q is the probability
 * of getting a slot. The relative variances of share and number add up.
 */
final class LeakTest {

  /**
   * The live samples. If there are several stacks, a stack counts only if it has an object in a
   * slot with an age of {@link #threshold} seconds or more.
   */
  private final List<SampledObject> live;

  private final List<SampledObject> idleObjects;
  private final SiteUse use;
  private final ObservationWindow window;
  private final double threshold;

  /**
   * The live samples that are at least {@link #threshold} seconds old and could be observed:
   * samples in a slot, and samples that could have been put into one.
   */
  private final List<SampledObject> oldEnough;

  private final EstimatedShare idleShareOfBytes;
  private final EstimatedShare idleShareOfObjects;

  /**
   * The birth of each site's oldest live object in a slot, by the number of the site. Objects that
   * are even older may have had no chance of a slot, so {@link #oldEnough} leaves them out.
   */
  private final Map<Integer, Long> firstInSlot = new HashMap<>();

  private LeakTest(
      List<SampledObject> live,
      List<SampledObject> idleObjects,
      SiteUse use,
      ObservationWindow window,
      double threshold) {
    this.idleObjects = idleObjects;
    this.use = use;
    this.window = window;
    this.threshold = threshold;
    for (SampledObject object : live) {
      if (object.inSlot()) {
        firstInSlot.merge(object.site(), object.bornNanos(), LeakTest::earlier);
      }
    }
    this.live = isOfOneStack(live) ? live : ofSeenStacks(live);
    this.oldEnough = filter(this.live, object -> isOlder(object, threshold));
    this.idleShareOfBytes = share(oldEnough, idleObjects, SampledObject::bytes);
    this.idleShareOfObjects = share(oldEnough, idleObjects, LeakTest::one);
  }

  /**
   * Compares only the first and the last sample, because the samples of a stack are side by side.
   */
  private static boolean isOfOneStack(List<SampledObject> live) {
    return live.get(0).site() == live.get(live.size() - 1).site();
  }

  private List<SampledObject> ofSeenStacks(List<SampledObject> all) {
    Set<Integer> seen = new HashSet<>();
    for (SampledObject object : all) {
      if (object.inSlot() && window.ageSeconds(object) >= threshold) {
        seen.add(object.site());
      }
    }
    return filter(all, object -> seen.contains(object.site()));
  }

  private static long earlier(long one, long other) {
    return one - other < 0 ? one : other;
  }

  static Assessment judge(List<SampledObject> live, SiteUse use, ObservationWindow window) {
    List<SampledObject> inSlots = filter(live, SampledObject::inSlot);
    if (inSlots.isEmpty()) {
      return Assessment.UNSEEN;
    }
    Assessment judged = judge(live, inSlots, use, window, window.times().floorSeconds(), false);
    if (judged.verdict() == Verdict.HEALTHY) {
      judged =
          preferUnused(
              judged, judge(live, inSlots, use, window, shortestUnusedSeconds(window), true));
    }
    boolean isMadeOnce =
        judged.idle().count() > 0
            && judged.verdict() != Verdict.LEAK
            && judged.verdict() != Verdict.POOL
            && !isOfOneStack(live)
            && !AllocationTrend.arriveRepeatedly(live, window.endNanos());
    return isMadeOnce ? judged.asHealthy() : judged;
  }

  private static double shortestUnusedSeconds(ObservationWindow window) {
    return LeakThresholds.UNUSED_SECONDS / window.times().scale();
  }

  /**
   * Returns the number of objects that are old enough to be idle but are used; 0 unless most
   * objects of that age are used.
   */
  private static int countUsed(
      List<SampledObject> inSlots, double threshold, ObservationWindow window) {
    int oldEnough = 0;
    int used = 0;
    for (SampledObject object : inSlots) {
      if (window.ageSeconds(object) > threshold) {
        oldEnough++;
        used += window.idleSeconds(object) <= threshold ? 1 : 0;
      }
    }
    return 2 * used > oldEnough ? used : 0;
  }

  /**
   * Chooses between two assessments of a site. {@code sooner} was made with a shorter threshold. It
   * is chosen if it finds unused memory, or if it has idle objects and {@code judged} has none. The
   * result takes {@code refutesLeak} from {@code judged}.
   */
  private static Assessment preferUnused(Assessment judged, Assessment sooner) {
    boolean says =
        sooner.verdict() == Verdict.UNUSED
            || sooner.staysUnused()
            || judged.idle().count() == 0 && sooner.idle().count() > 0;
    return says ? sooner.withRefutation(judged.refutesLeak()) : judged;
  }

  private static Assessment judge(
      List<SampledObject> live,
      List<SampledObject> inSlots,
      SiteUse use,
      ObservationWindow window,
      double floor,
      boolean unusedOnly) {
    double threshold = threshold(use, window, floor);
    List<SampledObject> idleObjects =
        filter(inSlots, object -> window.idleSeconds(object) > threshold);
    if (idleObjects.isEmpty()) {
      return Assessment.used(
          threshold,
          countUsed(inSlots, threshold(use, window, shortestUnusedSeconds(window)), window),
          isUsed(inSlots, use, window, threshold));
    }
    LeakTest test = new LeakTest(live, idleObjects, use, window, threshold);
    return unusedOnly ? test.judgeUnused() : test.judge();
  }

  /**
   * Returns whether it is known that a site uses or frees its objects. Called only for a site
   * without idle objects. Any of three facts is enough: the observation is long, an object is old
   * enough to be idle, or many objects that were once idle for {@link
   * LeakThresholds#UNUSED_SECONDS} were used or freed later.
   */
  private static boolean isUsed(
      List<SampledObject> inSlots, SiteUse use, ObservationWindow window, double threshold) {
    return window.observedSeconds() >= LeakThresholds.ARRIVAL_SPAN * threshold
        || !filter(inSlots, object -> window.ageSeconds(object) > threshold).isEmpty()
        || IdleSurvival.of(inSlots, use, shortestUnusedSeconds(window), window)
            < LeakThresholds.STAYING_SHARE;
  }

  private static List<SampledObject> filter(
      List<SampledObject> objects, Predicate<SampledObject> wanted) {
    List<SampledObject> found = new ArrayList<>();
    for (SampledObject object : objects) {
      if (wanted.test(object)) {
        found.add(object);
      }
    }
    return found;
  }

  static double threshold(SiteUse use, ObservationWindow window, double floor) {
    double own =
        Math.max(
            LeakThresholds.IDLE_FACTOR
                * use.idleBeforeFree().quantile(LeakThresholds.IDLE_QUANTILE),
            Math.max(
                LeakThresholds.LIFETIME_FACTOR
                    * use.lifetimes().quantile(LeakThresholds.LIFETIME_QUANTILE),
                LeakThresholds.GAP_FACTOR * use.gaps().quantile(LeakThresholds.GAP_QUANTILE)));
    return Math.max(own, Math.max(floor, LeakThresholds.LEAST_EPOCHS * window.epochSeconds()));
  }

  private Assessment judge() {
    double lag = threshold + usualUse();
    List<AllocationTrend.Birth> births = births(lag);
    List<AllocationTrend.Birth> all = new ArrayList<>(births);
    all.replaceAll(birth -> birth.ofSite(0));
    AllocationTrend trend = new AllocationTrend(all, threshold, lag);
    boolean enough =
        idleObjects.size() >= LeakThresholds.FEWEST_IDLE && isLargeEnough() && trend.isLongEnough();
    long since = countYoungerThan(lag);
    boolean staying = IdleSurvival.of(live, use, threshold, window) >= LeakThresholds.STAYING_SHARE;
    boolean arriving =
        enough
            && staying
            && trend.continues(since)
            && (isOfOneStack(live) || continueApart(births, lag, since));
    LeakTest part = arriving && haveOutlasted() ? testOfOutlasting() : null;
    boolean leaks = part != null && part.isLargeEnough();
    LeakTest leaking = leaks ? part : this;
    return new Assessment(
        enough ? verdict(leaks, staying) : Verdict.HEALTHY,
        leaking.idle(),
        leaking.suspected(),
        enough && !arriving ? noLeakReason(trend.ceased(since), staying) : null,
        !staying || trend.ended(since),
        null,
        null,
        null);
  }

  private boolean isLargeEnough() {
    return idleShareOfBytes.times(bytes(oldEnough)).value() >= LeakThresholds.LEAST_BYTES;
  }

  /**
   * Returns whether the stacks with objects idle for longer than {@code leak.longest-timeout}
   * together still allocate objects that become idle. Stacks without such objects are ignored;
   * otherwise old objects of one stack and new objects of another would look like a leak. Returns
   * false for a single such stack, because each stack is also judged by itself.
   */
  private boolean continueApart(List<AllocationTrend.Birth> births, double lag, long since) {
    Set<Integer> sites = outlasting();
    births.removeIf(birth -> !sites.contains(birth.site()));
    return sites.size() > 1
        && !births.isEmpty()
        && new AllocationTrend(births, threshold, lag).continues(since);
  }

  private Set<Integer> outlasting() {
    Set<Integer> sites = new HashSet<>();
    for (SampledObject object : idleObjects) {
      if (window.idleSeconds(object) > window.times().longestTimeoutSeconds()) {
        sites.add(object.site());
      }
    }
    return sites;
  }

  private LeakTest testOfOutlasting() {
    Set<Integer> sites = outlasting();
    Predicate<SampledObject> theirs = object -> sites.contains(object.site());
    return new LeakTest(filter(live, theirs), filter(idleObjects, theirs), use, window, threshold);
  }

  private static Verdict verdict(boolean leaks, boolean staying) {
    if (leaks) {
      return Verdict.LEAK;
    }
    return staying ? Verdict.UNUSED : Verdict.POOL;
  }

  /**
   * Returns whether at least {@link LeakThresholds#FEWEST_OUTLASTED} objects have been idle for
   * longer than {@code leak.longest-timeout}, and one of them for at least this timeout plus {@link
   * LeakThresholds#OUTLASTED_SECONDS}. The sum of the idle times must also be long enough to make
   * random use improbable, as {@link LeakThresholds#EXCLUDED_GAPS} explains.
   */
  private boolean haveOutlasted() {
    double timeout = window.times().longestTimeoutSeconds();
    double sure = window.times().outlastedSeconds();
    double seconds = 0;
    int count = 0;
    for (SampledObject object : idleObjects) {
      double idle = window.idleSeconds(object);
      seconds += idle >= sure / 2 ? idle : 0;
      count += idle > timeout ? 1 : 0;
    }
    return count >= LeakThresholds.FEWEST_OUTLASTED
        && seconds >= LeakThresholds.EXCLUDED_GAPS * sure
        && idleObjects.stream().anyMatch(window::hasOutlasted);
  }

  /** Judges whether objects have been unused so far. The program might still use or free them. */
  private Assessment judgeUnused() {
    Idle idle = idle();
    double scale = window.times().scale();
    boolean unused =
        idle.count() >= LeakThresholds.FEWEST_IDLE
            && idle.longestSeconds() >= LeakThresholds.LONGEST_UNUSED_SECONDS / scale
            && idle.objectSeconds() >= LeakThresholds.UNUSED_OBJECT_SECONDS / scale
            && idleShareOfObjects.share() >= LeakThresholds.UNUSED_SHARE
            && idleShareOfBytes.times(bytes(oldEnough)).value() >= LeakThresholds.LEAST_BYTES;
    Verdict verdict = unused ? Verdict.UNUSED : Verdict.HEALTHY;
    return new Assessment(verdict, idle, suspected(), null, false, null, null, null);
  }

  /**
   * Estimates the idle objects: the idle share of the objects in slots, times all observable
   * objects. Objects that were never in a slot also count, because the same code allocates and uses
   * them.
   */
  private Suspected suspected() {
    List<SampledObject> all = observable(live, window, threshold);
    return new Suspected(
        idleShareOfBytes.times(bytes(all)),
        idleShareOfObjects.times(objects(all)),
        threshold,
        idleObjects.stream().mapToDouble(window::idleSeconds).min().orElseThrow(),
        medianAge(),
        idleObjects.stream().mapToDouble(window::ageSeconds).max().orElseThrow());
  }

  /**
   * Returns the number of observed objects that are old enough to be idle. Idle objects always
   * count. An object in use counts if its age exceeds the idle threshold by at least {@link
   * LeakThresholds#LEAST_EPOCHS} epochs, the time in which it may have been initialized.
   */
  private int watched() {
    double least = threshold + LeakThresholds.LEAST_EPOCHS * window.epochSeconds();
    return idleObjects.size()
        + filter(
                oldEnough,
                object ->
                    object.inSlot()
                        && window.ageSeconds(object) >= least
                        && window.idleSeconds(object) <= threshold)
            .size();
  }

  private Idle idle() {
    double longest = 0;
    double all = 0;
    for (SampledObject object : idleObjects) {
      double seconds = window.idleSeconds(object);
      longest = Math.max(longest, seconds);
      all += seconds;
    }
    return new Idle(idleObjects.size(), watched(), longest, all, isUntouched());
  }

  /**
   * Returns whether no object was used after it was initialized. The initialization of an object
   * may take {@link LeakThresholds#LEAST_EPOCHS} epochs.
   */
  private boolean isUntouched() {
    double least = LeakThresholds.LEAST_EPOCHS * window.epochSeconds();
    return use.gaps().count() == 0
        && filter(oldEnough, object -> object.inSlot() && usedFor(object) > least).isEmpty();
  }

  private static double usedFor(SampledObject object) {
    return (object.lastAccessNanos() - object.bornNanos()) / 1e9;
  }

  private static double one(SampledObject object) {
    return 1;
  }

  private long countYoungerThan(double seconds) {
    long count = 0;
    for (SampledObject object : live) {
      count += window.ageSeconds(object) <= seconds ? 1 : 0;
    }
    return count;
  }

  private static NoLeakReason noLeakReason(boolean ceased, boolean staying) {
    if (!staying) {
      return NoLeakReason.USED_AGAIN;
    }
    return ceased ? NoLeakReason.CEASED : NoLeakReason.TOO_FEW;
  }

  /**
   * Returns how long the program usually uses an object, in seconds. This is a quantile of the
   * times from the birth of idle objects to their latest access.
   */
  private double usualUse() {
    double[] used = new double[idleObjects.size()];
    for (int i = 0; i < used.length; i++) {
      used[i] = usedFor(idleObjects.get(i));
    }
    Arrays.sort(used);
    return used[(int) (LeakThresholds.USED_QUANTILE * (used.length - 1))];
  }

  /**
   * Returns a {@link AllocationTrend.Birth} for each idle object that is at least {@code lag}
   * seconds old. If most objects of that age are idle, returns the births of all {@link
   * #observable} objects of that age instead, because more births give a more precise trend.
   */
  private List<AllocationTrend.Birth> births(double lag) {
    List<SampledObject> oldEnough = filter(live, object -> isOlder(object, lag));
    List<SampledObject> idle = filter(idleObjects, object -> isOlder(object, lag));
    boolean mostly = share(oldEnough, idle, LeakTest::one).share() >= LeakThresholds.MOSTLY_IDLE;
    List<AllocationTrend.Birth> births = new ArrayList<>();
    for (SampledObject object : mostly ? observable(live, window, lag) : idle) {
      double weight = mostly ? object.weight() : object.slotWeight();
      births.add(new AllocationTrend.Birth(object.site(), window.ageSeconds(object), weight));
    }
    return births;
  }

  /**
   * Returns the objects that are at least {@code seconds} old and could be observed. Such an object
   * is in a slot, or it is small enough for a slot and was allocated after the observation began.
   */
  static List<SampledObject> observable(
      List<SampledObject> live, ObservationWindow window, double seconds) {
    return filter(
        live,
        object ->
            window.ageSeconds(object) >= seconds
                && (object.inSlot()
                    || object.bornNanos() - window.startedNanos() >= 0
                        && object.bytes() <= LeakThresholds.LARGEST_PLACED_BYTES));
  }

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
    List<SampledObject> youngestFirst = new ArrayList<>(idleObjects);
    youngestFirst.sort(Comparator.comparingDouble(window::ageSeconds));
    double half = youngestFirst.stream().mapToDouble(LeakTest::medianAgeWeight).sum() / 2;
    int i = 0;
    while (i < youngestFirst.size() - 1 && half > medianAgeWeight(youngestFirst.get(i))) {
      half -= medianAgeWeight(youngestFirst.get(i));
      i++;
    }
    return window.ageSeconds(youngestFirst.get(i));
  }

  static Estimate bytes(List<SampledObject> objects) {
    return total(objects, SampledObject::bytes);
  }

  static Estimate objects(List<SampledObject> objects) {
    return total(objects, LeakTest::one);
  }

  /**
   * Estimates the total of a value, such as bytes, over all objects that the samples stand for
   * (Horvitz and Thompson's estimator).
   */
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

  private static EstimatedShare share(
      List<SampledObject> oldEnough,
      List<SampledObject> idleObjects,
      ToDoubleFunction<SampledObject> figure) {
    double all = 0;
    double squares = 0;
    for (SampledObject object : oldEnough) {
      if (object.inSlot()) {
        double weighted = object.slotWeight() * figure.applyAsDouble(object);
        all += weighted;
        squares += weighted * weighted;
      }
    }
    double idle = 0;
    for (SampledObject object : idleObjects) {
      idle += object.slotWeight() * figure.applyAsDouble(object);
    }
    return EstimatedShare.of(idle, all, squares);
  }
}
