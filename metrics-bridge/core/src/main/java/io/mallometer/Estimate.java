package io.mallometer;

/**
 * A sum that was estimated from samples, with its uncertainty.
 *
 * @param value the estimate, without bias
 * @param variance the estimate's variance, itself estimated; 0 if the value is exact
 * @param samples how many samples it stands on
 */
public record Estimate(double value, double variance, long samples) {

  /** Nothing of anything. */
  public static final Estimate ZERO = new Estimate(0, 0, 0);

  /** The 97.5 % quantile of the normal distribution. */
  private static final double Z = 1.959963984540054;

  /** The sum of two independent estimates. */
  public Estimate plus(Estimate other) {
    return new Estimate(value + other.value, variance + other.variance, samples + other.samples);
  }

  /** The lower end of the 95 % interval. */
  public double low() {
    return Math.max(0, value - Z * Math.sqrt(variance));
  }

  /** The upper end of the 95 % interval. */
  public double high() {
    return value + Z * Math.sqrt(variance);
  }
}
