package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * The result of one evaluation for one stack, or for several that are assessed together.
 *
 * @param suspected an estimate of all suspected objects: the idle objects, or the lost objects
 * @param noLeakReason the reason why idle objects are no leak; null if they are a leak, or if the
 *     reason is unknown
 * @param refutesLeak whether an earlier verdict of a leak is doubtful, because objects are used
 *     again or freed, or no more are allocated
 * @param increase the increase of live bytes over the last minutes; null if the site does not grow
 * @param lost the lost objects, whose addresses were not found in memory; null if there are none
 * @param known the leak of an earlier run with the same stack; null unless the verdict is based on
 *     that leak
 */
record Assessment(
    Verdict verdict,
    Idle idle,
    Suspected suspected,
    @Nullable NoLeakReason noLeakReason,
    boolean refutesLeak,
    @Nullable Increase increase,
    @Nullable LostObjects lost,
    @Nullable KnownLeak known) {

  /**
   * The samples that have been idle for longer than the threshold.
   *
   * @param watched the number of observed objects that are old enough to be idle; 0 if unknown
   * @param longestSeconds the longest idle time of an object; {@code NaN} without one
   * @param objectSeconds the sum of the idle times
   * @param untouched whether no observed object was used after its initialization
   */
  record Idle(
      int count, int watched, double longestSeconds, double objectSeconds, boolean untouched) {

    Idle plus(Idle other) {
      return new Idle(
          count + other.count,
          watched + other.watched,
          fmax(longestSeconds, other.longestSeconds),
          objectSeconds + other.objectSeconds,
          untouched && (other.untouched || other.count == 0));
    }

    static Idle none(int watched) {
      return new Idle(0, watched, Double.NaN, 0, false);
    }
  }

  private static final Estimate UNKNOWN = new Estimate(Double.NaN, Double.NaN, 0);

  static final Assessment UNSEEN = none(UNKNOWN, Double.NaN, false, 0);

  static final Assessment NONE_LEFT = none(UNKNOWN, Double.NaN, true, 0);

  Assessment plus(Assessment other) {
    return new Assessment(
        verdict,
        idle.plus(other.idle),
        sum(suspected, other.suspected),
        noLeakReason,
        refutesLeak,
        increase == null || other.increase == null ? increase : increase.plus(other.increase),
        lost == null || other.lost == null ? lost : lost.plus(other.lost),
        known);
  }

  private static Suspected sum(Suspected one, Suspected other) {
    return new Suspected(
        sum(one.bytes(), other.bytes()),
        sum(one.objects(), other.objects()),
        one.thresholdSeconds(),
        fmin(one.idleSeconds(), other.idleSeconds()),
        one.medianAgeSeconds(),
        fmax(one.oldestSeconds(), other.oldestSeconds()));
  }

  private static Estimate sum(Estimate one, Estimate other) {
    return Double.isNaN(one.value()) ? other : Double.isNaN(other.value()) ? one : one.plus(other);
  }

  private static double fmin(double one, double other) {
    return Double.isNaN(one) ? other : Double.isNaN(other) ? one : Math.min(one, other);
  }

  private static double fmax(double one, double other) {
    return Double.isNaN(one) ? other : Double.isNaN(other) ? one : Math.max(one, other);
  }

  /**
   * Returns the assessment of a site without idle objects.
   *
   * @param watched the number of objects that are old enough to be idle
   * @param refutesLeak whether a leak would have idle objects by this time
   */
  static Assessment used(double thresholdSeconds, int watched, boolean refutesLeak) {
    return none(Estimate.ZERO, thresholdSeconds, refutesLeak, watched);
  }

  LeakEvidence leakEvidence() {
    if (lost != null) {
      return LeakEvidence.LOST;
    }
    return known == null ? LeakEvidence.OUTLASTED : LeakEvidence.KNOWN;
  }

  /**
   * Returns whether a site with the verdict unused keeps this verdict. The limits are lower than
   * those for a new verdict, so that the verdict does not alternate.
   */
  boolean staysUnused() {
    return (verdict == Verdict.GROWING || verdict == Verdict.HEALTHY)
        && idle.count() >= LeakThresholds.FEWEST_IDLE_LEFT
        && idle.count() >= LeakThresholds.UNUSED_SHARE_LEFT * idle.watched()
        && suspected.bytes().value() >= LeakThresholds.LEAST_BYTES / 2;
  }

  Assessment withRefutation(boolean refutes) {
    return with(verdict, refutes, increase, lost, known);
  }

  Assessment asHealthy() {
    return with(Verdict.HEALTHY, refutesLeak, increase, lost, known);
  }

  Assessment withIncrease(Increase by) {
    boolean worse = verdict.compareTo(Verdict.GROWING) < 0;
    return with(worse ? verdict : Verdict.GROWING, refutesLeak, by, lost, known);
  }

  Assessment withLostObjects(LostObjects proof, Suspected objects) {
    return new Assessment(Verdict.LEAK, idle, objects, noLeakReason, false, increase, proof, null);
  }

  Assessment asKnownLeak(KnownLeak earlier) {
    return with(Verdict.LEAK, false, increase, lost, earlier);
  }

  Assessment asWaiting() {
    return with(Verdict.WAITS_FOR_GC, true, increase, null, null);
  }

  private Assessment with(
      Verdict other,
      boolean refutes,
      @Nullable Increase by,
      @Nullable LostObjects proof,
      @Nullable KnownLeak earlier) {
    return new Assessment(other, idle, suspected, noLeakReason, refutes, by, proof, earlier);
  }

  private static Assessment none(
      Estimate idle, double thresholdSeconds, boolean refutesLeak, int watched) {
    Suspected suspected =
        new Suspected(idle, idle, thresholdSeconds, Double.NaN, Double.NaN, Double.NaN);
    return new Assessment(
        Verdict.HEALTHY, Idle.none(watched), suspected, null, refutesLeak, null, null, null);
  }
}
