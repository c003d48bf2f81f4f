package io.mallometer.internal.pool;

import io.mallometer.model.Estimate;

/**
 * The buffers of one line of code that the application dropped without releasing them.
 *
 * @param kind the kind of their pool
 * @param line the class, method and line that allocated the buffers
 * @param buffers the number of buffers
 */
record Forgotten(String kind, String line, Estimate buffers) {

  static Forgotten one(TrackedBuffer buffer, int oneIn) {
    return new Forgotten(buffer.kind(), buffer.line(), buffer.estimate(1, oneIn));
  }

  Forgotten plus(Forgotten other) {
    return new Forgotten(kind, line, buffers.plus(other.buffers));
  }
}
