package io.mallometer.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * All verdicts of one evaluation, immutable.
 *
 * @param time when it was
 * @param observation how the observation goes
 * @param sites the verdicts: leaks first, then growing, pools and healthy ones; within each most
 *     suspected bytes first
 * @param reason why there are no verdicts; empty if there could be
 */
public record LeakReport(
    Instant time, Observation observation, List<SiteVerdict> sites, String reason) {

  public LeakReport {
    sites = List.copyOf(sites);
  }

  /** No verdicts, and why. */
  public static LeakReport none(Instant time, String reason) {
    return new LeakReport(time, Observation.off(reason), List.of(), reason);
  }

  /** The verdicts other than healthy. */
  public List<SiteVerdict> suspicious() {
    return sites.stream().filter(site -> site.verdict() != Verdict.HEALTHY).toList();
  }

  /** Leaks of which nobody said that they are fine. */
  public List<SiteVerdict> leaks() {
    List<SiteVerdict> leaks = new ArrayList<>();
    for (SiteVerdict site : sites) {
      if (site.alarming()) {
        leaks.add(site);
      }
    }
    return List.copyOf(leaks);
  }
}
