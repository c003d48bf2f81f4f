package io.mallometer.internal.leak;

/**
 * By how much a site holds more than a short time ago.
 *
 * @param seconds how long ago
 * @param bytes how much more it holds
 * @param born sampled objects that were allocated since, and are live
 */
record Increase(double seconds, double bytes, long born) {

  private static final double HOUR = 3_600;

  /** Both at once: the rates add up, over the longer time. */
  Increase plus(Increase other) {
    double longer = Math.max(seconds, other.seconds);
    return new Increase(
        longer, longer * (bytes / seconds + other.bytes / other.seconds), born + other.born);
  }

  double bytesPerHour() {
    return bytes / seconds * HOUR;
  }
}
