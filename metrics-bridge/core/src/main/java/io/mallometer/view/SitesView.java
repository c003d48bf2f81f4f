package io.mallometer.view;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answer of {@code nativememory/sites}. Like {@link NativeMemoryView}, unknown numbers are {@code
 * NaN}.
 *
 * @param reading of which reading the sites are
 * @param matching how many sites there are, of which {@link #sites()} are the first
 * @param sites the sites
 */
public record SitesView(Reading reading, int matching, List<Site> sites) implements View {

  /**
   * A reading of the call sites.
   *
   * @param time when they were read, in ISO 8601
   * @param samples allocations that were looked at since counting began
   * @param droppedSamples samples that are not or not wholly in the sites, by reason
   * @param byteUnit what one byte is
   * @param reason why there are no sites, or no Java frames in them; empty if nothing is missing
   * @param mode how the library came to count
   * @param since when counting began, in ISO 8601: allocations before are in no site; empty if it
   *     did not
   * @param allocatedBeforeBytes live bytes that were allocated before an attach and are in no site,
   *     estimated; {@code NaN} without attach or if unknown
   */
  public record Reading(
      Instant time,
      long samples,
      Map<String, Long> droppedSamples,
      String byteUnit,
      String reason,
      String mode,
      Optional<Instant> since,
      @Whole double allocatedBeforeBytes) {

    static Reading of(CallSites sites) {
      return new Reading(
          sites.time(),
          sites.samples(),
          sites.dropped(),
          sites.byteUnit().tag(),
          sites.reason(),
          sites.origin().mode(),
          sites.origin().since(),
          sites.origin().attached() ? sites.origin().allocatedBeforeBytes() : Double.NaN);
    }
  }

  /**
   * An estimate from samples.
   *
   * @param value what is estimated
   * @param low95 the lower end of the 95 % interval
   * @param high95 its upper end
   */
  public record Interval(long value, long low95, long high95) {

    static Interval of(Estimate estimate) {
      return new Interval(
          Math.round(estimate.value()), Math.round(estimate.low()), Math.round(estimate.high()));
    }
  }

  /**
   * Code that allocates, identified by its whole stack.
   *
   * @param number the site's number, which it keeps while the process lives
   * @param name who allocates
   * @param library the library that asked for the memory
   * @param samples how many allocations were looked at
   * @param liveBytes bytes in use
   * @param liveObjects objects in use
   * @param allocatedBytes bytes allocated since counting began
   * @param allocatedObjects objects allocated since then
   * @param bytesPerSecond bytes allocated for each second, lately
   * @param rateSeconds the time over which that was, which is as long as its samples need
   * @param medianAgeSeconds the age that half of the live bytes exceed
   * @param ninetyPercentAgeSeconds the age that a tenth of them exceeds
   * @param oldestAgeSeconds the age of the oldest that was seen
   * @param frames the stack, innermost first
   */
  public record Site(
      int number,
      String name,
      String library,
      long samples,
      Estimate liveBytes,
      Estimate liveObjects,
      Estimate allocatedBytes,
      Estimate allocatedObjects,
      double bytesPerSecond,
      double rateSeconds,
      double medianAgeSeconds,
      double ninetyPercentAgeSeconds,
      double oldestAgeSeconds,
      List<StackFrame> frames) {

    private static Site of(CallSite site) {
      return new Site(
          site.number(),
          site.name(),
          site.library(),
          site.samples(),
          site.liveBytes(),
          site.liveObjects(),
          site.allocatedBytes(),
          site.allocatedObjects(),
          site.bytesPerSecond(),
          site.rateSeconds(),
          site.ages().median(),
          site.ages().ninetyPercent(),
          site.ages().oldest(),
          site.frames());
    }
  }

  static SitesView of(CallSites sites, SiteOrder order, int most) {
    return new SitesView(
        Reading.of(sites),
        sites.sites().size(),
        SiteQuery.rows(sites.sortedBy(order), most, Site::of));
  }
}
