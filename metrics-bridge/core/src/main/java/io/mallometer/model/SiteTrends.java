package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import java.time.Instant;
import java.util.List;

/**
 * The live memory of groups of call sites in the last hour.
 *
 * @param times the times of the stored readings, oldest first; the last time is that of the present
 *     reading
 * @param groups the groups that have most live bytes or grew most, most live bytes first
 * @param reason the reason why groups or their Java frames are missing; empty if nothing is missing
 */
public record SiteTrends(List<Instant> times, List<Group> groups, String reason) {

  /** A group of call sites, with its live memory over time. */
  public record Group(
      @Figure("What the sites hold now") SiteGroup figures,
      @Figure(
              value =
                  "The live bytes at each of the times; of more than 4,096 sites the small ones count as nothing",
              unit = BYTES)
          List<Double> history,
      @Figure("The sites that hold most, most first") List<CallSite> largest) {

    public Group {
      history = List.copyOf(history);
      largest = List.copyOf(largest);
    }

    /** Returns the growth from the first moment to the last; {@code NaN} without moments. */
    @Figure(value = "By how much live bytes grew from the first time to the last", unit = BYTES)
    public double growthBytes() {
      return history.isEmpty() ? Double.NaN : history.get(history.size() - 1) - history.get(0);
    }
  }

  public SiteTrends {
    times = List.copyOf(times);
    groups = List.copyOf(groups);
  }
}
