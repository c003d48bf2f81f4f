package io.mallometer.model;

import io.mallometer.model.SiteVerdict.Garbage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A report with all verdicts of one evaluation. Immutable.
 *
 * @param time the time of the evaluation
 * @param observation whether accesses to objects are observed
 * @param sites the verdicts, including those on call sites of HotSpot and mallometer. A suspect is
 *     a site with the verdict leak, unused or growing. Suspects whose memory grows come first, then
 *     other suspects, then all other sites. Within each of these groups, verdicts are in the order
 *     of {@link Verdict}, the gravest first. Sites with the same verdict are sorted by suspected
 *     bytes, most first. Live bytes are used instead if the verdict is growing or healthy, or if
 *     the suspected bytes are unknown. Suspects with the same name and library usually share one
 *     verdict
 * @param reason the reason why there are no verdicts; empty if there can be verdicts
 * @param garbage the memory that waits for a garbage collection, by the name of the call site. It
 *     does not include leaks. A name whose amount is unknown is left out
 * @param garbageReason the reason why {@code garbage} is unknown; empty if it is known
 */
public record LeakReport(
    Instant time,
    Observation observation,
    List<SiteVerdict> sites,
    String reason,
    Map<String, Garbage> garbage,
    String garbageReason) {

  /**
   * Creates a report in which no memory waits for a garbage collection: {@code garbage} and {@code
   * garbageReason} are empty.
   */
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

  /** Returns the call sites of the application whose verdict is not healthy. */
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
