package io.mallometer.samples.leaky;

import java.util.function.LongSupplier;

/**
 * A token bucket, which limits spending to a steady rate. The bucket fills over time and holds at
 * most the inflow of one second, so that no larger burst follows a pause. Not thread-safe.
 */
final class Allowance {
  private static final double NANOS_PER_SECOND = 1e9;

  private final LongSupplier nanoTime;
  private double ratePerSecond;
  private double available;
  private long filledAt;

  /**
   * @param ratePerSecond the inflow, in the unit that {@link #spend} takes
   * @param nanoTime a monotonic clock in nanoseconds
   */
  Allowance(double ratePerSecond, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.ratePerSecond = ratePerSecond;
    this.filledAt = nanoTime.getAsLong();
  }

  /**
   * Spends {@code amount} and returns true; if the bucket is empty, only returns false. The last
   * amount may overdraw the bucket, which later inflow pays back. So the rate holds for amounts of
   * any size.
   */
  boolean spend(double amount) {
    fill();
    if (available <= 0) {
      return false;
    }
    available -= amount;
    return true;
  }

  /** Changes the rate. */
  void rate(double perSecond) {
    fill();
    ratePerSecond = perSecond;
    available = Math.min(available, perSecond);
  }

  /** Empties the bucket. */
  void empty() {
    fill();
    available = 0;
  }

  private void fill() {
    long now = nanoTime.getAsLong();
    double inflow = (now - filledAt) / NANOS_PER_SECOND * ratePerSecond;
    available = Math.min(ratePerSecond, available + inflow);
    filledAt = now;
  }
}
