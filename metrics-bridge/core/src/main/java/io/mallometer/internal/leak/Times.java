package io.mallometer.internal.leak;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;

/**
 * How long objects are waited for, as the options say.
 *
 * @param floorSeconds the least idle time from which on leaks and pools are told apart
 * @param longestTimeoutSeconds the longest for which the program leaves an object alone that it
 *     still needs
 * @param scale by what all times are divided
 */
record Times(double floorSeconds, double longestTimeoutSeconds, double scale) {

  static Times of(MallometerOptions options) {
    double scale = options.get(Setting.LEAK_TIME_SCALE);
    return new Times(
        options.get(Setting.LEAK_WORKLOAD).floor().toMillis() / 1e3 / scale,
        options.get(Setting.LEAK_LONGEST_TIMEOUT).toMillis() / 1e3 / scale,
        scale);
  }

  /** From how long an idle time on no timeout explains it. */
  double outlastedSeconds() {
    return longestTimeoutSeconds + LeakThresholds.OUTLASTED_SECONDS / scale;
  }
}
