package io.mallometer.samples.leaky;

import java.util.function.LongSupplier;

/**
 * Limits spending to a steady rate, as a token bucket. The bucket holds the inflow of at most one
 * second, so no burst follows a pause. Not thread-safe.
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
   * Spends {@code amount} and returns true, or returns false if nothing is available.
   *
   * <p>An amount larger than the available one leads to a debt. Later calls return false until the
   * inflow has paid the debt.
   */
  boolean spend(double amount) {
    fill();
    if (available <= 0) {
      return false;
    }
    available -= amount;
    return true;
  }

  void rate(double perSecond) {
    fill();
    ratePerSecond = perSecond;
    available = Math.min(available, perSecond);
  }

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
