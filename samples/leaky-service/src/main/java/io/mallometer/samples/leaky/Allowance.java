package io.mallometer.samples.leaky;

import java.util.function.LongSupplier;

/**
 * A token bucket: says how much may be spent at a steady rate. It fills by time and holds at most
 * one second's worth, so that no burst follows a pause or an hour with the switch off. Not
 * thread-safe.
 */
final class Allowance {
  private static final double NANOS_PER_SECOND = 1e9;

  private final LongSupplier nanoTime;
  private double ratePerSecond;
  private double available;
  private long filledAt;

  /**
   * @param ratePerSecond the inflow, in the unit that is spent
   * @param nanoTime a monotonic clock in nanoseconds
   */
  Allowance(double ratePerSecond, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.ratePerSecond = ratePerSecond;
    this.filledAt = nanoTime.getAsLong();
  }

  /**
   * Spends {@code amount} and returns true unless the bucket is empty. The last amount may overdraw
   * the bucket, which later inflow pays back. So the rate holds for amounts of any size.
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
