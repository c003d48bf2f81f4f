package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * What one evaluation says of a site.
 *
 * @param verdict the verdict
 * @param idle the samples that nobody touched
 * @param suspected what they stand for
 * @param growthBytesPerHour what is idle more each hour
 * @param acquittal why idle objects are no leak; null if they are one, or if that is not known
 * @param refutesLeak whether what was a leak is none any more: its objects are used again or freed,
 *     or no more come
 * @param increase by how much the site holds more than some minutes ago; null if it does not grow
 * @param lost what searches say of its objects; null if they are not lost, or not known to be
 * @param known the leak of an earlier run by which it is one; null if it is none by that
 */
record Judgement(
    Verdict verdict,
    Idle idle,
    Suspected suspected,
    double growthBytesPerHour,
    @Nullable Acquittal acquittal,
    boolean refutesLeak,
    @Nullable Increase increase,
    @Nullable Lost lost,
    @Nullable KnownLeak known) {

  /**
   * Samples that nobody touched for longer than the threshold.
   *
   * @param count how many they are
   * @param watched how many observed objects are old enough to be idle; 0 if that says nothing
   * @param longestSeconds how long the one is idle that is so the longest; {@code NaN} if none is
   * @param objectSeconds for how long they were left alone, all together
   * @param untouched whether none of the observed was ever used again after it was made
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

  private static final Judgement UNSEEN = none(UNKNOWN, Double.NaN, Double.NaN, false, 0);

  private static final Judgement NONE_LEFT = none(UNKNOWN, Double.NaN, Double.NaN, true, 0);

  /** The same verdict on the objects of another judgement too. */
  Judgement plus(Judgement other) {
    return new Judgement(
        verdict,
        idle.plus(other.idle),
        sum(suspected, other.suspected),
        sum(growthBytesPerHour, other.growthBytesPerHour),
        acquittal,
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

  private static double sum(double one, double other) {
    return Double.isNaN(one) ? other : Double.isNaN(other) ? one : one + other;
  }

  private static double fmin(double one, double other) {
    return Double.isNaN(one) ? other : Double.isNaN(other) ? one : Math.min(one, other);
  }

  private static double fmax(double one, double other) {
    return Double.isNaN(one) ? other : Double.isNaN(other) ? one : Math.max(one, other);
  }

  /** Nothing is known of the use of its objects. */
  static Judgement unseen() {
    return UNSEEN;
  }

  /** None of its objects is in a slot: those that were are freed. */
  static Judgement noneLeft() {
    return NONE_LEFT;
  }

  /**
   * No object is idle.
   *
   * @param watched how many could be
   * @param refutesLeak whether some would be if it were a leak
   */
  static Judgement used(double thresholdSeconds, int watched, boolean refutesLeak) {
    return none(Estimate.ZERO, thresholdSeconds, 0, refutesLeak, watched);
  }

  /** On what it stands that it is a leak. */
  LeakEvidence leakEvidence() {
    if (lost != null) {
      return LeakEvidence.LOST;
    }
    return known == null ? LeakEvidence.OUTLASTED : LeakEvidence.KNOWN;
  }

  /** The same, which says something else of what was a leak. */
  Judgement refuting(boolean refutes) {
    return with(verdict, refutes, increase, lost, known);
  }

  /** The same of a site that grows. */
  Judgement growing(Increase by) {
    boolean worse = verdict.compareTo(Verdict.GROWING) < 0;
    return with(worse ? verdict : Verdict.GROWING, refutesLeak, by, lost, known);
  }

  /** The same of a site whose objects nobody can use or free; unless it holds too little. */
  Judgement losing(Lost proof, Suspected objects) {
    return verdict == Verdict.HEALTHY
        ? this
        : new Judgement(
            Verdict.LEAK,
            idle,
            objects,
            growthBytesPerHour,
            acquittal,
            false,
            increase,
            proof,
            null);
  }

  /** The same of a site whose stack was a leak in an earlier run. */
  Judgement knownFrom(KnownLeak earlier) {
    return with(Verdict.LEAK, false, increase, lost, earlier);
  }

  private Judgement with(
      Verdict other,
      boolean refutes,
      @Nullable Increase by,
      @Nullable Lost proof,
      @Nullable KnownLeak earlier) {
    return new Judgement(
        other, idle, suspected, growthBytesPerHour, acquittal, refutes, by, proof, earlier);
  }

  private static Judgement none(
      Estimate idle, double thresholdSeconds, double growth, boolean refutesLeak, int watched) {
    Suspected suspected =
        new Suspected(idle, idle, thresholdSeconds, Double.NaN, Double.NaN, Double.NaN);
    return new Judgement(
        Verdict.HEALTHY,
        Idle.none(watched),
        suspected,
        growth,
        null,
        refutesLeak,
        null,
        null,
        null);
  }
}
