package io.mallometer.internal.leak;

/**
 * The growth rate of a site, by its live samples of the last minutes.
 *
 * @param bytesPerHour the increase of live bytes; 0 without one; {@code NaN} if unknown
 * @param quietSeconds the time without an increase; 0 if the site grows, {@code NaN} if unknown
 */
record Pace(double bytesPerHour, double quietSeconds) {

  static final Pace UNKNOWN = new Pace(Double.NaN, Double.NaN);

  static Pace growing(double bytesPerHour) {
    return new Pace(bytesPerHour, 0);
  }

  static Pace still(double seconds) {
    return new Pace(0, seconds);
  }
}
