package io.mallometer.junit;

import io.mallometer.model.ScopeCounts;

/**
 * Native memory that a piece of code used.
 *
 * @param calls successful calls of malloc and its relatives
 * @param small those of at most 4,096 bytes
 * @param large those of more
 * @param bytes bytes that these calls asked for
 * @param frees frees
 * @param kept allocated less freed bytes; negative if more was freed, {@code NaN} if unknown
 * @param peak the most by which live bytes exceeded those at the beginning; {@code NaN} if unknown
 * @param largest the largest request, in bytes; {@code NaN} if unknown
 */
public record NativeUse(
    long calls,
    long small,
    long large,
    long bytes,
    long frees,
    double kept,
    double peak,
    double largest) {

  static NativeUse of(ScopeCounts counted) {
    return new NativeUse(
        counted.calls(),
        counted.smallCalls(),
        counted.largeCalls(),
        counted.requestedBytes(),
        counted.frees(),
        counted.netBytes(),
        counted.peakBytes(),
        counted.largestBytes());
  }
}
