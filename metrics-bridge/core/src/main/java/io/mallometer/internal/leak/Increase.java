package io.mallometer.internal.leak;

/**
 * The increase of a site's live bytes over a period of the last minutes.
 *
 * @param seconds the length of the period
 * @param bytes the increase
 * @param born the live samples that were allocated in the period
 */
record Increase(double seconds, double bytes, long born) {

  private static final double HOUR = 3_600;

  /**
   * Returns the increase of two sites together over the longer of their two periods. Assumes that
   * each site grew at its own rate during the whole period.
   */
  Increase plus(Increase other) {
    double longer = Math.max(seconds, other.seconds);
    return new Increase(
        longer, longer * (bytes / seconds + other.bytes / other.seconds), born + other.born);
  }

  double bytesPerHour() {
    return bytes / seconds * HOUR;
  }
}
