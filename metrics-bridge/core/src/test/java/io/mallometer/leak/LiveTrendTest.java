package io.mallometer.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.CallSite;
import io.mallometer.SitesByHand;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which sites hold ever more. */
class LiveTrendTest {

  private static final double FLOOR = 300;

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
        .hasSize(LiveTrend.MOST_SITES);
  }
}
