package io.mallometer.model;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * All verdicts of one evaluation, immutable.
 *
 * @param time the time of the evaluation
 * @param observation the state of the observation
 * @param sites the verdicts, also on call sites of HotSpot and mallometer: suspects (leak, unused,
 *     growing) first, those that grow before the others; then pools and healthy ones; within each
 *     most suspected bytes first. Suspects of one name and library have one verdict together, or
 *     one each for lost memory, other leaks and the rest where the milder part has more bytes;
 *     pools of one name and library have one
 * @param reason why there are no verdicts; empty if there can be some
 * @param garbageReason why memory that waits for a garbage collection is unknown; empty if it is
 *     known
 */
public record LeakReport(
    Instant time,
    Observation observation,
    List<SiteVerdict> sites,
    String reason,
    String garbageReason) {

  /** Creates a report of a process whose collections are counted. */
  public LeakReport(Instant time, Observation observation, List<SiteVerdict> sites, String reason) {
    this(time, observation, sites, reason, "");
  }

  public LeakReport {
    sites = List.copyOf(sites);
  }

  /** Creates a report without verdicts, with the reason. */
  public static LeakReport none(Instant time, String reason) {
    return new LeakReport(time, Observation.off(reason), List.of(), reason);
  }

  /** Returns the verdicts other than healthy on call sites of the application. */
  public List<SiteVerdict> suspicious() {
    return sites.stream()
        .filter(site -> site.verdict() != Verdict.HEALTHY)
        .filter(site -> site.site().codeOwner() == CodeOwner.APPLICATION)
        .toList();
  }

  /** Returns this report with other verdicts. */
  public LeakReport with(List<SiteVerdict> others) {
    return new LeakReport(time, observation, others, reason, garbageReason);
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
