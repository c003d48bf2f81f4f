package io.mallometer.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * All verdicts of one evaluation, immutable.
 *
 * @param time when it was
 * @param observation how the observation goes
 * @param sites the verdicts, those of HotSpot's and mallometer's own call sites too: leaks, unused
 *     and growing ones first, and of these the ones that grow; then pools and healthy ones; within
 *     each most suspected bytes first. Of these verdicts there is one for each name and library
 * @param reason why there are no verdicts; empty if there could be
 */
public record LeakReport(
    Instant time, Observation observation, List<SiteVerdict> sites, String reason) {

  public LeakReport {
    sites = List.copyOf(sites);
  }

  /** Creates a report without verdicts, with the reason. */
  public static LeakReport none(Instant time, String reason) {
    return new LeakReport(time, Observation.off(reason), List.of(), reason);
  }

  /** The verdicts other than healthy on call sites of the application. */
  public List<SiteVerdict> suspicious() {
    return sites.stream()
        .filter(site -> site.verdict() != Verdict.HEALTHY)
        .filter(site -> site.site().owner() == Owner.APPLICATION)
        .toList();
  }

  /** Returns this report with other verdicts. */
  public LeakReport with(List<SiteVerdict> others) {
    return new LeakReport(time, observation, others, reason);
  }

  /** Returns the leaks of the application that are not acknowledged. */
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
