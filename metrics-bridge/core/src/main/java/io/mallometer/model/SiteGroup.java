package io.mallometer.model;

/**
 * Call sites taken together.
 *
 * @param key what they have in common, by a {@link Grouping}
 * @param sites how many they are
 * @param samples how many allocations were looked at
 * @param allocatedObjects objects allocated since the process started
 * @param allocatedBytes their bytes
 * @param liveObjects those of them that have not been freed
 * @param liveBytes their bytes
 * @param bytesPerSecond bytes allocated for each second, lately; {@code NaN} if that of any site is
 *     unknown
 */
public record SiteGroup(
    String key,
    int sites,
    long samples,
    Estimate allocatedObjects,
    Estimate allocatedBytes,
    Estimate liveObjects,
    Estimate liveBytes,
    double bytesPerSecond)
    implements SiteFigures {

  /** A group of one. */
  static SiteGroup of(String key, CallSite site) {
    return new SiteGroup(
        key,
        1,
        site.samples(),
        site.allocatedObjects(),
        site.allocatedBytes(),
        site.liveObjects(),
        site.liveBytes(),
        site.bytesPerSecond());
  }

  /** This group and another. Samples of different sites are independent, so variances add up. */
  SiteGroup plus(SiteGroup other) {
    return new SiteGroup(
        key,
        sites + other.sites,
        samples + other.samples,
        allocatedObjects.plus(other.allocatedObjects),
        allocatedBytes.plus(other.allocatedBytes),
        liveObjects.plus(other.liveObjects),
        liveBytes.plus(other.liveBytes),
        bytesPerSecond + other.bytesPerSecond);
  }
}
