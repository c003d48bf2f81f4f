package io.mallometer.internal.leak;

import io.mallometer.model.Estimate;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * What the idle objects of a site say.
 *
 * @param verdict leak, pool or healthy
 * @param stale how many samples are idle
 * @param suspected what they stand for
 * @param growthBytesPerHour what is idle more each hour
 * @param confidence how likely a leak is one; {@code NaN} if it is none
 * @param acquittal why a pool is no leak; null of others
 * @param refutesLeak whether what was a leak is none any more: less is asked to stay one than to
 *     become one
 */
record Judgement(
    Verdict verdict,
    int stale,
    Suspected suspected,
    double growthBytesPerHour,
    double confidence,
    @Nullable Acquittal acquittal,
    boolean refutesLeak) {

  private static final Estimate UNKNOWN = new Estimate(Double.NaN, Double.NaN, 0);

  private static final Judgement UNSEEN = none(UNKNOWN, Double.NaN, Double.NaN);

  /** Nothing is known of the use of its objects. */
  static Judgement unseen() {
    return UNSEEN;
  }

  /** No object is idle. */
  static Judgement used(double thresholdSeconds) {
    return none(Estimate.ZERO, thresholdSeconds, 0);
  }

  private static Judgement none(Estimate idle, double thresholdSeconds, double growth) {
    Suspected suspected =
        new Suspected(idle, idle, thresholdSeconds, Double.NaN, Double.NaN, Double.NaN);
    return new Judgement(Verdict.HEALTHY, 0, suspected, growth, Double.NaN, null, true);
  }
}
