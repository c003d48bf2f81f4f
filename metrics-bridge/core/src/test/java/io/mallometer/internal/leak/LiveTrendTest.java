package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.SelfReport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which sites hold ever more. */
@Tag("any-jdk")
class LiveTrendTest {

  private static final double FLOOR = 300;
  private static final int MOST_SITES = 4_096;

  @Test
  void soManySitesAreFollowedAndNoMore() {
    LiveTrend trend = new LiveTrend(FLOOR);
    List<CallSite> sites = List.of();
    for (int minute = 0; minute <= 60; minute += 2) {
      double bytes = 1e9 * (1 + minute);
      sites =
          IntStream.range(0, 5_000)
              .mapToObj(number -> SitesByHand.site(number, "Cache.fill", "lib.so", bytes))
              .toList();
      // What is read first is followed: of equal sites that is the first.
      trend.add(SitesByHand.reading(Instant.EPOCH, sites), minute * 60);
    }
    assertThat(sites.stream().filter(site -> trend.growthBytesPerHour(site) > 0))
        .hasSize(MOST_SITES);
  }

  /** A cache of 600 MB that is renewed within an hour, and was full at the attach. */
  @Test
  void whatReplacesOlderObjectsAfterAnAttachDoesNotGrow() {
    assertThat(growthAfterAttach(1)).isNaN();
    assertThat(growthAfterAttach(0.5)).isPositive();
    assertThat(growthAfterAttach(0)).isPositive();
  }

  /** Of what a site comes to hold, such a share was freed of what was there before. */
  private static double growthAfterAttach(double replaced) {
    LiveTrend trend = new LiveTrend(FLOOR);
    CallSite site = SitesByHand.site(0, "Cache.fill", "lib.so", 0);
    for (int minute = 0; minute <= 60; minute += 2) {
      double bytes = 1e7 * minute;
      site = SitesByHand.site(0, "Cache.fill", "lib.so", bytes);
      CallSites read = SitesByHand.reading(site);
      trend.add(
          new CallSites(
              read.time(),
              read.sites(),
              read.samples(),
              read.dropped(),
              read.byteUnit(),
              read.reason(),
              new CallSites.Origin(
                  SelfReport.ATTACHED, Optional.empty(), Double.NaN, replaced * bytes)),
          minute * 60);
    }
    return trend.growthBytesPerHour(site);
  }

  @Test
  void whatHoldsNothingAnyMoreLeavesItsPlaceToOthers() {
    LiveTrend trend = new LiveTrend(FLOOR);
    for (int minute = 0; minute <= 230; minute += 2) {
      int first = minute < 60 ? 0 : MOST_SITES;
      double bytes = 1e9 * Math.max(1, minute - 129);
      List<CallSite> sites =
          IntStream.range(first, first + MOST_SITES)
              .mapToObj(number -> SitesByHand.site(number, "Cache.fill", "lib.so", bytes))
              .toList();
      trend.add(SitesByHand.reading(Instant.EPOCH, sites), minute * 60);
    }
    CallSite gone = SitesByHand.site(3, "Cache.fill", "lib.so", 101e9);
    CallSite last = SitesByHand.site(2 * MOST_SITES - 1, "Cache.fill", "lib.so", 101e9);
    assertThat(trend.growthBytesPerHour(gone)).isNaN();
    // A gigabyte each minute.
    assertThat(trend.growthBytesPerHour(last)).isCloseTo(60e9, withinPercentage(5));
  }

  @Test
  void numbersThatNoSiteHasAreNotFollowed() {
    LiveTrend trend = new LiveTrend(FLOOR);
    for (int number : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      CallSite site = SitesByHand.site(number, "Cache.fill", "lib.so", 1e9);
      trend.add(SitesByHand.reading(site), number);
      assertThat(trend.growthBytesPerHour(site)).isNaN();
    }
  }
}
