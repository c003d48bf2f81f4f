package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.model.Observation;

/**
 * The time in which accesses were observed. An epoch is the time between two readings of the
 * accessed bits; it is void if the kernel itself cleared bits.
 *
 * @param startedNanos the beginning of the observation, by {@link System#nanoTime()}
 * @param endNanos the end of the latest valid epoch
 * @param epochSeconds the mean length of epochs; void epochs count as part of the next valid one
 * @param voidTime the times in which accesses may have left no trace
 */
record ObservationWindow(
    long startedNanos, long endNanos, double epochSeconds, IdleLimits times, VoidTime voidTime) {

  private static final double NANOS = 1e9;

  static ObservationWindow of(Observation observation, IdleLimits times, VoidTime voidTime) {
    return new ObservationWindow(
        observation.period().startedNanos(),
        observation.period().epochEndNanos(),
        meanEpoch(observation),
        times,
        voidTime);
  }

  /**
   * Returns the mean time between the ends of two valid epochs, in seconds. A single epoch may be
   * an outlier, which would change thresholds.
   */
  private static double meanEpoch(Observation observation) {
    long valid = observation.period().epochs() - observation.period().voidEpochs();
    double seconds =
        (observation.period().epochEndNanos() - observation.period().startedNanos()) / NANOS;
    return valid > 0 ? seconds / valid : observation.period().epochSeconds();
  }

  double observedSeconds() {
    return (endNanos - startedNanos) / NANOS;
  }

  /**
   * Returns the idle time of an object in a slot (a page of its own) in seconds. Does not count
   * time in which an access may have left no trace.
   */
  double idleSeconds(SampledObject object) {
    double idle = (endNanos - object.lastAccessNanos()) / NANOS;
    return Math.max(0, idle - voidTime.secondsSince(object.lastAccessNanos()));
  }

  /**
   * Returns whether an object was idle for at least {@code leak.longest-timeout} plus {@link
   * LeakThresholds#OUTLASTED_SECONDS}. It must also be improbable that the object was used in this
   * time without leaving a trace.
   */
  boolean hasOutlasted(SampledObject object) {
    return idleSeconds(object) >= times.outlastedSeconds()
        && voidTime.hiddenUseProbability(
                object.lastAccessNanos(), endNanos, times.longestTimeoutSeconds())
            <= LeakThresholds.HIDDEN_PROBABILITY;
  }

  /**
   * Returns the age of an object at the end of the observation, in seconds; negative if the object
   * was born later.
   */
  double ageSeconds(SampledObject object) {
    return (endNanos - object.bornNanos()) / NANOS;
  }
}
