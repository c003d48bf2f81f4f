package io.mallometer.internal.leak;

/**
 * The growth rate of a site, by its live samples of the last minutes.
 *
 * @param bytesPerHour the increase of live bytes; 0 without one; {@code NaN} if unknown
 * @param quietSeconds the time without an increase; 0 if the site grows, {@code NaN} if unknown
 */
record SiteGrowthRate(double bytesPerHour, double quietSeconds) {

  static final SiteGrowthRate UNKNOWN = new SiteGrowthRate(Double.NaN, Double.NaN);

  static SiteGrowthRate growing(double bytesPerHour) {
    return new SiteGrowthRate(bytesPerHour, 0);
  }

  static SiteGrowthRate still(double seconds) {
    return new SiteGrowthRate(0, seconds);
  }
}
