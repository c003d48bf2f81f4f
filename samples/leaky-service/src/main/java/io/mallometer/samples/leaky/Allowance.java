package io.mallometer.samples.leaky;

import java.util.function.LongSupplier;

/**
 * Says how much may be spent at a steady rate: a token bucket that fills by time and holds at most
 * one second's worth, so that neither a pause nor a switch that was off for an hour is made up for
 * by a burst. Not thread-safe.
 */
final class Allowance {
  private static final double NANOS_PER_SECOND = 1e9;

  private final LongSupplier nanoTime;
  private double ratePerSecond;
  private double available;
  private long filledAt;

  /**
   * @param ratePerSecond what flows in, in whatever unit is spent
   * @param nanoTime a monotonic clock in nanoseconds
   */
  Allowance(double ratePerSecond, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.ratePerSecond = ratePerSecond;
    this.filledAt = nanoTime.getAsLong();
  }

  /**
   * Spends {@code amount} unless the allowance is used up; otherwise spends nothing and says false.
   * The last amount may overdraw it, which later inflow pays back: the rate holds in the long run
   * for amounts of any size.
   */
  boolean spend(double amount) {
    fill();
    if (available <= 0) {
      return false;
    }
    available -= amount;
    return true;
  }

  /** Changes the rate from now on. */
  void rate(double perSecond) {
    fill();
    ratePerSecond = perSecond;
    available = Math.min(available, perSecond);
  }

  /** Forgets what has flowed in. */
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
