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
   * @param oneIn one tracked buffer in so many is read
   */
  static Forgotten one(TrackedBuffer buffer, int oneIn) {
    return new Forgotten(buffer.kind(), buffer.line(), buffer.estimate(1, oneIn));
  }

  Forgotten plus(Forgotten other) {
    return new Forgotten(kind, line, buffers.plus(other.buffers));
  }
}
