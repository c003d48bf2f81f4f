package io.mallometer.internal.leak;

/**
 * The growth rate of a call site, estimated from its live samples of the last minutes.
 *
 * @param bytesPerHour the increase of live bytes per hour; 0 without an increase; {@code NaN} if
 *     unknown
 * @param quietSeconds the time without an increase; 0 if the site grows, {@code NaN} if unknown
 */
record GrowthRate(double bytesPerHour, double quietSeconds) {

  static final GrowthRate UNKNOWN = new GrowthRate(Double.NaN, Double.NaN);

  static GrowthRate growing(double bytesPerHour) {
    return new GrowthRate(bytesPerHour, 0);
  }

  static GrowthRate still(double seconds) {
    return new GrowthRate(0, seconds);
  }
}
