package io.mallometer.model;

import io.mallometer.model.SiteVerdict.Garbage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * All verdicts of one evaluation. Immutable.
 *
 * @param time the time of the evaluation
 * @param observation the state of the observation
 * @param sites the verdicts, also on call sites of HotSpot and mallometer: suspects (leak, unused,
 *     growing) come first, and among them those whose memory grows. Sites with the same verdict are
 *     sorted by suspected bytes, most first. Suspects of one name and library share one verdict;
 *     lost memory, other leaks and other suspects among them have separate verdicts if the milder
 *     kind has more bytes. Pools of one name and library share one verdict
 * @param reason the reason why there are no verdicts; empty if there can be verdicts
 * @param garbage the memory that waits for a garbage collection, by name and without leaks; omits
 *     names with unknown amounts
 * @param garbageReason the reason why memory that waits for a garbage collection is unknown; empty
 *     if it is known
 */
public record LeakReport(
    Instant time,
    Observation observation,
    List<SiteVerdict> sites,
    String reason,
    Map<String, Garbage> garbage,
    String garbageReason) {

  /** Creates a report in which no memory waits for a garbage collection. */
  public LeakReport(Instant time, Observation observation, List<SiteVerdict> sites, String reason) {
    this(time, observation, sites, reason, Map.of(), "");
  }

  public LeakReport {
    sites = List.copyOf(sites);
    garbage = Map.copyOf(garbage);
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
    return new LeakReport(time, observation, others, reason, garbage, garbageReason);
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
