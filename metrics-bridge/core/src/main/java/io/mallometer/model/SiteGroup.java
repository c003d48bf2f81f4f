package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.BYTES_PER_SECOND;
import static io.mallometer.model.Figure.Unit.COUNT;

/** The sum of the call sites that a {@link Grouping} puts into one group. */
public record SiteGroup(
    @Figure("What the sites of the group have in common") String key,
    @Figure(value = "How many they are", unit = COUNT) int sites,
    @Figure(value = "How many allocations were looked at", unit = COUNT) long samples,
    @Figure(value = "Objects allocated since counting began", unit = COUNT)
        Estimate allocatedObjects,
    @Figure(value = "Bytes allocated since counting began", unit = BYTES) Estimate allocatedBytes,
    @Figure(value = "Live objects", unit = COUNT) Estimate liveObjects,
    @Figure(value = "Live bytes", unit = BYTES) Estimate liveBytes,
    @Figure(
            value = "Live bytes on pages that are in memory; unknown if those of any site are",
            unit = BYTES)
        Estimate residentBytes,
    @Figure(
            value =
                "Bytes allocated for each second, lately; unknown if that of any site is unknown",
            unit = BYTES_PER_SECOND)
        double bytesPerSecond)
    implements SiteFigures {

  static SiteGroup of(String key, CallSite site) {
    return new SiteGroup(
        key,
        1,
        site.samples(),
        site.allocatedObjects(),
        site.allocatedBytes(),
        site.liveObjects(),
        site.liveBytes(),
        site.residentBytes(),
        site.bytesPerSecond());
  }

  /** Returns the sum of two groups. Their variances add up, because samples are independent. */
  SiteGroup plus(SiteGroup other) {
    return new SiteGroup(
        key,
        sites + other.sites,
        samples + other.samples,
        allocatedObjects.plus(other.allocatedObjects),
        allocatedBytes.plus(other.allocatedBytes),
        liveObjects.plus(other.liveObjects),
        liveBytes.plus(other.liveBytes),
        residentBytes.plus(other.residentBytes),
        bytesPerSecond + other.bytesPerSecond);
  }
}
