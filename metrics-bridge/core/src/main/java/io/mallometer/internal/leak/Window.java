package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.SampledObject;
import io.mallometer.model.Observation;

/**
 * The time over which sites are judged.
 *
 * @param startedNanos when observation began, by {@link System#nanoTime()}
 * @param endNanos when the latest epoch ended that says something
 * @param epochSeconds how long epochs were on average
 * @param times how long objects are waited for
 * @param voidTime when nothing was seen
 */
record Window(
    long startedNanos, long endNanos, double epochSeconds, Times times, VoidTime voidTime) {

  private static final double NANOS = 1e9;

  static Window of(Observation observation, Times times, VoidTime voidTime) {
    return new Window(
        observation.startedNanos(),
        observation.epochEndNanos(),
        meanEpoch(observation),
        times,
        voidTime);
  }

  /** The present epoch may be an odd one, and thresholds should not jump. */
  private static double meanEpoch(Observation observation) {
    long telling = observation.epochs() - observation.voidEpochs();
    double seconds = (observation.epochEndNanos() - observation.startedNanos()) / NANOS;
    return telling > 0 ? seconds / telling : observation.epochSeconds();
  }

  /** Since when use is observed. */
  double observedSeconds() {
    return (endNanos - startedNanos) / NANOS;
  }

  /** For how long an object in a slot is known not to have been touched. */
  double idleSeconds(SampledObject object) {
    double idle = (endNanos - object.lastAccessNanos()) / NANOS;
    return Math.max(0, idle - voidTime.since(object.lastAccessNanos()));
  }

  /**
   * Whether an object was idle for longer than any timeout. A use that nobody saw, because the time
   * was void, must not make two waits one.
   */
  boolean hasOutlasted(SampledObject object) {
    double seconds = times.outlastedSeconds();
    return idleSeconds(object) >= seconds
        && !voidTime.mayPart(object.lastAccessNanos(), endNanos, seconds);
  }

  /** How old an object is; below zero if it is younger than the latest epoch. */
  double ageSeconds(SampledObject object) {
    return (endNanos - object.bornNanos()) / NANOS;
  }
}
