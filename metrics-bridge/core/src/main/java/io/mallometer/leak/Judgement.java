package io.mallometer.leak;

import io.mallometer.model.Estimate;
import io.mallometer.model.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * What the idle objects of a site say.
 *
 * @param verdict leak, pool or healthy
 * @param thresholdSeconds the idle time from which on they count
 * @param stale how many samples are idle
 * @param idleSeconds the smallest of their idle times; {@code NaN} if there are none, as is all
 *     that follows
 * @param medianAgeSeconds the age that half of their bytes exceed
 * @param oldestSeconds the age of the oldest
 * @param bytes what they stand for
 * @param objects what they stand for
 * @param growthBytesPerHour what is idle more each hour
 * @param confidence how likely a leak is one; {@code NaN} if it is none
 * @param acquittal why a pool is no leak; null of others
 * @param refutesLeak whether what was a leak is none any more: less is asked to stay one than to
 *     become one
 */
record Judgement(
    Verdict verdict,
    double thresholdSeconds,
    int stale,
    double idleSeconds,
    double medianAgeSeconds,
    double oldestSeconds,
    Estimate bytes,
    Estimate objects,
    double growthBytesPerHour,
    double confidence,
    @Nullable Acquittal acquittal,
    boolean refutesLeak) {

  private static final Estimate UNKNOWN = new Estimate(Double.NaN, Double.NaN, 0);

  private static final Judgement UNSEEN =
      new Judgement(
          Verdict.HEALTHY,
          Double.NaN,
          0,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          UNKNOWN,
          UNKNOWN,
          Double.NaN,
          Double.NaN,
          null,
          true);

  /** Nothing is known of the use of its objects. */
  static Judgement unseen() {
    return UNSEEN;
  }

  /** No object is idle. */
  static Judgement used(double thresholdSeconds) {
    return new Judgement(
        Verdict.HEALTHY,
        thresholdSeconds,
        0,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Estimate.ZERO,
        Estimate.ZERO,
        0,
        Double.NaN,
        null,
        true);
  }
}
