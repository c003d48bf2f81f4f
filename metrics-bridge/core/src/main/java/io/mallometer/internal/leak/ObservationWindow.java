package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.model.Observation;

/**
 * The time of observation by which sites are judged.
 *
 * @param startedNanos the begin of observation, by {@link System#nanoTime()}
 * @param endNanos the end of the latest valid epoch
 * @param epochSeconds the mean length of epochs
 * @param times the times by which idle objects are judged
 * @param voidTime the time without evidence
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

  /** Returns the mean length of epochs: a single one may be an outlier and change thresholds. */
  private static double meanEpoch(Observation observation) {
    long valid = observation.period().epochs() - observation.period().voidEpochs();
    double seconds =
        (observation.period().epochEndNanos() - observation.period().startedNanos()) / NANOS;
    return valid > 0 ? seconds / valid : observation.period().epochSeconds();
  }

  /** Returns the length of the observation. */
  double observedSeconds() {
    return (endNanos - startedNanos) / NANOS;
  }

  /** Returns the time for which an object in a slot was surely not accessed. */
  double idleSeconds(SampledObject object) {
    double idle = (endNanos - object.lastAccessNanos()) / NANOS;
    return Math.max(0, idle - voidTime.secondsSince(object.lastAccessNanos()));
  }

  /**
   * Returns whether an object was idle for longer than any timeout, and void time hardly hid its
   * uses.
   */
  boolean hasOutlasted(SampledObject object) {
    return idleSeconds(object) >= times.outlastedSeconds()
        && voidTime.hiddenUseProbability(
                object.lastAccessNanos(), endNanos, times.longestTimeoutSeconds())
            <= LeakThresholds.HIDDEN_PROBABILITY;
  }

  /** Returns the age of an object; below zero if it is younger than the latest epoch. */
  double ageSeconds(SampledObject object) {
    return (endNanos - object.bornNanos()) / NANOS;
  }
}
