package io.mallometer.jmh;

import io.mallometer.NativeScope;

/**
 * The native memory that code used.
 *
 * @param calls successful calls of malloc and its relatives
 * @param small calls for at most 4,096 bytes
 * @param large calls for more than 4,096 bytes
 * @param bytes requested bytes
 * @param kept allocated less freed bytes
 * @param peak the largest increase of live bytes since the beginning; {@code NaN} if unknown
 */
record Use(long calls, long small, long large, long bytes, double kept, double peak) {

  static final Use NOTHING = new Use(0, 0, 0, 0, 0, 0);

  static Use of(NativeScope scope) {
    return scope
        .figures()
        .counts()
        .map(
            counted ->
                new Use(
                    counted.calls(),
                    counted.smallCalls(),
                    counted.largeCalls(),
                    counted.requestedBytes(),
                    counted.netBytes(),
                    counted.peakBytes()))
        .orElse(NOTHING);
  }

  /**
   * Returns the sum. The sum of the peaks is an upper bound, because parallel threads may reach
   * their peaks at different times.
   */
  Use plus(Use other) {
    return new Use(
        calls + other.calls,
        small + other.small,
        large + other.large,
        bytes + other.bytes,
        kept + other.kept,
        peak + other.peak);
  }
}
