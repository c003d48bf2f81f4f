package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.Durations;
import io.mallometer.internal.interposer.SampledObject;
import io.mallometer.internal.interposer.SiteUse;
import java.util.List;

/**
 * Of the objects that were ever idle for a time, the share that is neither used nor freed
 * afterwards: Kaplan and Meier's estimate of survival (JASA 53, 1958) over idle time, given that it
 * reached a threshold. What ended is in the sketches of gaps and of idle time before the free; what
 * is idle now is censored. Both by weights.
 */
final class Plateau {

  private Plateau() {}

  /**
   * The share, at the horizon to which it can be told.
   *
   * @param live the site's live objects; those in slots tell
   * @param threshold seconds
   */
  static double of(List<SampledObject> live, SiteUse use, double threshold, Window window) {
    int first = Durations.bucket(threshold);
    double[] ended = new double[Durations.BUCKETS];
    double[] idle = new double[Durations.BUCKETS];
    for (int i = first; i < Durations.BUCKETS; i++) {
      ended[i] = use.gaps().weight(i) + use.idleBeforeFree().weight(i);
    }
    for (SampledObject object : live) {
      double seconds = object.inSlot() ? window.idleSeconds(object) : 0;
      if (object.inSlot() && seconds >= threshold) {
        idle[Durations.bucket(seconds)] += object.slotWeight();
      }
    }
    return survival(ended, idle);
  }

  private static double survival(double[] ended, double[] idle) {
    double atRisk = 0;
    for (int i = 0; i < ended.length; i++) {
      atRisk += ended[i] + idle[i];
    }
    double least = LeakThresholds.PLATEAU_HORIZON * atRisk;
    double survival = 1;
    for (int i = 0; i < ended.length && atRisk > least; i++) {
      survival *= 1 - ended[i] / atRisk;
      atRisk -= ended[i] + idle[i];
    }
    return survival;
  }
}
