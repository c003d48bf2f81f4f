package io.mallometer.jmh;

import io.mallometer.NativeScope;

record Use(long calls, long small, long large, long bytes, double kept, double peak) {

  static final Use NOTHING = new Use(0, 0, 0, 0, 0, 0);

  /** Returns the figures of a scope; {@link #NOTHING} if the scope could not measure. */
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

  /** Returns the sum. The peaks of parallel threads are added, which is an upper bound. */
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
