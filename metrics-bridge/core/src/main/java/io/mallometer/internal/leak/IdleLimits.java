package io.mallometer.internal.leak;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;

/**
 * The times by which idle objects are judged, as the options set them.
 *
 * @param floorSeconds the shortest idle time that can make an object part of a leak or pool
 * @param longestTimeoutSeconds the longest time for which an object that the program still needs
 *     may be idle
 * @param scale the divisor of all times, {@link Setting#LEAK_TIME_SCALE}
 */
record IdleLimits(double floorSeconds, double longestTimeoutSeconds, double scale) {

  static IdleLimits of(MallometerOptions options) {
    double scale = options.get(Setting.LEAK_TIME_SCALE);
    return new IdleLimits(
        options.get(Setting.LEAK_WORKLOAD).floor().toMillis() / 1e3 / scale,
        options.get(Setting.LEAK_LONGEST_TIMEOUT).toMillis() / 1e3 / scale,
        scale);
  }

  double outlastedSeconds() {
    return longestTimeoutSeconds + LeakThresholds.OUTLASTED_SECONDS / scale;
  }
}
