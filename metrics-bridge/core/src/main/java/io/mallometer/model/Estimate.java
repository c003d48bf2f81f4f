package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.COUNT;

/**
 * A sum that was estimated from samples, with its uncertainty.
 *
 * <p>The distribution of samples of rare events is skewed. Therefore the 95 % interval is taken
 * from a gamma distribution with the mean and variance of the estimate. Fay and Feuer proposed this
 * for weighted sums of Poisson variables (Statistics in Medicine 16, 1997).
 *
 * <p>Let {@code c = variance / value} and {@code m = value / c}. The lower end is {@code c/2} times
 * the 2.5 % quantile of a chi-squared distribution with {@code 2m} degrees of freedom. The upper
 * end is {@code c/2} times the 97.5 % quantile with {@code 2(m+2)} degrees of freedom. Fay and
 * Feuer use {@code m+1} for the upper end; {@code m+2} compensates for the error of the estimated
 * variance. Quantiles are computed by the approximation of Wilson and Hilferty.
 *
 * @param variance the estimated variance of the estimate; 0 if the value is exact
 * @param samples the number of samples from which the value was estimated
 * @param most an upper limit of the interval, such as the exact live bytes of the whole process;
 *     infinite if unknown
 */
public record Estimate(
    @Figure(value = "The estimate, without bias", unit = COUNT) double value,
    double variance,
    long samples,
    double most) {

  /** The exact value zero. */
  public static final Estimate ZERO = new Estimate(0, 0, 0);

  /** An unknown estimate. */
  public static final Estimate UNKNOWN = new Estimate(Double.NaN, Double.NaN, 0);

  /** The 97.5 % quantile of the normal distribution. */
  private static final double Z = 1.959963984540054;

  /** The mean of a Poisson distribution in which 0 has the probability 2.5 %. */
  private static final double NONE_BY_CHANCE = 3.688879454113936;

  /** Creates an estimate without an upper limit. */
  public Estimate(double value, double variance, long samples) {
    this(value, variance, samples, Double.POSITIVE_INFINITY);
  }

  /** Returns the sum of two independent estimates of the same process. */
  public Estimate plus(Estimate other) {
    return new Estimate(
        value + other.value,
        variance + other.variance,
        samples + other.samples,
        Math.max(most, other.most));
  }

  /**
   * Returns this estimate with an upper limit for its 95 % interval.
   *
   * @param whole the limit, such as the exact live bytes of the whole process; {@code NaN} if
   *     unknown
   */
  public Estimate atMost(double whole) {
    return new Estimate(value, variance, samples, whole > 0 ? whole : Double.POSITIVE_INFINITY);
  }

  /**
   * Returns the estimate for a random subset of the objects.
   *
   * @param share the size of the subset as a share of all objects, from 0 to 1; {@code NaN} if
   *     unknown
   */
  public Estimate share(double share) {
    return Double.isNaN(share)
        ? UNKNOWN
        : new Estimate(share * value, share * variance, samples, most);
  }

  /** Returns the lower end of the 95 % interval. */
  @Figure(value = "The lower end of the 95 % interval", unit = COUNT)
  public double low() {
    if (!(variance > 0) || !(value > 0)) {
      return value;
    }
    double scale = variance / value;
    return scale / 2 * chiSquared(-Z, 2 * value / scale);
  }

  /**
   * Returns the upper end of the 95 % interval. It is at most {@link #most}, unless the estimate
   * itself is larger.
   *
   * <p>An estimate without samples must have a variance of w², where w is the weight that one
   * sample would have.
   */
  @Figure(value = "The upper end of the 95 % interval", unit = COUNT)
  public double high() {
    double high = highOfSamples();
    return high > most ? Math.max(value, most) : high;
  }

  private double highOfSamples() {
    if (!(variance > 0)) {
      return value;
    }
    if (!(value > 0)) {
      return NONE_BY_CHANCE * Math.sqrt(variance);
    }
    double scale = variance / value;
    return scale / 2 * chiSquared(Z, 2 * (value / scale + 2));
  }

  private static double chiSquared(double normalQuantile, double degrees) {
    double spread = 2 / (9 * degrees);
    return degrees * Math.pow(Math.max(0, 1 - spread + normalQuantile * Math.sqrt(spread)), 3);
  }
}
