package io.mallometer.jmh;

import io.mallometer.NativeScope;

/**
 * What was counted of native allocations.
 *
 * @param calls successful calls of malloc and its relatives
 * @param small those of at most 4,096 bytes
 * @param large those of more
 * @param bytes bytes that they asked for
 * @param kept allocated less freed bytes
 * @param peak the most live bytes beyond those of the beginning; {@code NaN} if unknown
 */
record Use(long calls, long small, long large, long bytes, double kept, double peak) {

  static final Use NOTHING = new Use(0, 0, 0, 0, 0, 0);

  /** What a scope measured; nothing if it could not. */
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

  /** The sum. The peak of threads that run at once is at most the sum of their peaks. */
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
