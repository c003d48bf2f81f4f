package io.mallometer.internal.pool;

import io.mallometer.model.Estimate;

/**
 * Buffers of one line that were dropped without release.
 *
 * @param kind the kind of their pool
 * @param line the class, method and line that allocated them
 * @param buffers how many there are
 */
record Forgotten(String kind, String line, Estimate buffers) {

  /**
   * Returns one tracked buffer.
   *
   * @param weight how many buffers it stands for
   */
  static Forgotten one(TrackedBuffer buffer, double weight) {
    double variance = weight == 1 ? 0 : weight * weight;
    return new Forgotten(buffer.kind(), buffer.line(), new Estimate(weight, variance, 1));
  }

  Forgotten plus(Forgotten other) {
    return new Forgotten(kind, line, buffers.plus(other.buffers));
  }
}
