package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * Live memory of groups of call sites in the last hour.
 *
 * @param times the moments that are kept, oldest first, the last being now
 * @param groups those with most live bytes and those that grew most, most live bytes first
 * @param reason why there are none, or no Java frames in them; empty if nothing is missing
 */
public record SiteTrends(List<Instant> times, List<Group> groups, String reason) {

  /**
   * Sites that have something in common.
   *
   * @param figures what they hold now
   * @param liveBytes what they held at each of the times; of more than 4,096 sites the small ones
   *     count as nothing
   * @param largest those of the sites that hold most, most first
   */
  public record Group(SiteGroup figures, List<Double> liveBytes, List<CallSite> largest) {

    public Group {
      liveBytes = List.copyOf(liveBytes);
      largest = List.copyOf(largest);
    }

    /** Returns the growth from the first moment to the last; {@code NaN} if there are none. */
    public double growthBytes() {
      return liveBytes.isEmpty()
          ? Double.NaN
          : liveBytes.get(liveBytes.size() - 1) - liveBytes.get(0);
    }
  }

  public SiteTrends {
    times = List.copyOf(times);
    groups = List.copyOf(groups);
  }
}
