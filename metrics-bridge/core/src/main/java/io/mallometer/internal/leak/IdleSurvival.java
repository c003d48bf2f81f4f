package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.DurationSketch;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import java.util.List;

/**
 * Estimates the share of objects that stay idle, neither used nor freed, once they have been idle
 * for a threshold (Kaplan and Meier, JASA 53, 1958). {@link SiteUse#gaps} has the idle times that
 * ended with an access, and {@link SiteUse#idleBeforeFree} those that ended with a free. The idle
 * times of objects that are still idle are censored observations.
 */
final class IdleSurvival {

  private IdleSurvival() {}

  /**
   * Returns the estimated share (0 to 1) of idle objects that stay idle. Ignores idle times that
   * only few objects reached (a share of at most {@link LeakThresholds#SURVIVAL_HORIZON}), because
   * such times should not decide the result.
   *
   * @param live the site's live objects; only those in slots (pages of their own) count
   * @param threshold the least idle time, in seconds
   */
  static double of(
      List<SampledObject> live, SiteUse use, double threshold, ObservationWindow window) {
    int first = DurationSketch.bucket(threshold);
    double[] ended = new double[DurationSketch.BUCKETS];
    double[] idle = new double[DurationSketch.BUCKETS];
    for (int i = first; i < DurationSketch.BUCKETS; i++) {
      ended[i] = use.gaps().weight(i) + use.idleBeforeFree().weight(i);
    }
    for (SampledObject object : live) {
      double seconds = object.inSlot() ? window.idleSeconds(object) : 0;
      if (object.inSlot() && seconds >= threshold) {
        idle[DurationSketch.bucket(seconds)] += object.slotWeight();
      }
    }
    return survival(ended, idle);
  }

  private static double survival(double[] ended, double[] idle) {
    double atRisk = 0;
    for (int i = 0; i < ended.length; i++) {
      atRisk += ended[i] + idle[i];
    }
    double least = LeakThresholds.SURVIVAL_HORIZON * atRisk;
    double survival = 1;
    for (int i = 0; i < ended.length && atRisk > least; i++) {
      survival *= 1 - ended[i] / atRisk;
      atRisk -= ended[i] + idle[i];
    }
    return survival;
  }
}
