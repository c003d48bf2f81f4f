package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.model.SiteSummary.Share;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Suspects by name and the memory of the worst leaks, in a few names, for the meters. Acknowledged
 * sites and those of HotSpot and mallometer are not in it.
 *
 * <p>A name comes in with the first {@value #TOP} and goes when it is no more among the first
 * {@value #STAYING}, so that two that take turns at the boundary do not come and go.
 *
 * @param worst the leaking sites that keep most, at most {@value #WORST}, most first
 * @param worstInWords the first of them: of those that grow the one that keeps most; empty if none
 *     leaks
 */
public record LeakSummary(
    @Figure("When the sites were judged") Instant time,
    @Figure(value = "Sites with the verdict leak by lost", unit = COUNT) int lost,
    @Figure(value = "Those by outlasted", unit = COUNT) int outlasted,
    @Figure(value = "Those by known", unit = COUNT) int known,
    @Figure(value = "Sites with the verdict unused", unit = COUNT) int unused,
    @Figure(value = "Sites with the verdict growing", unit = COUNT) int growing,
    @Figure(value = "Sites with the verdict pool", unit = COUNT) int pools,
    @Figure(
            "Suspected bytes of the leaking ones by name, most first, the last being "
                + "other; empty if none leaks")
        List<Share> suspected,
    @Figure("The same of the unused ones; empty if there is none") List<Share> unusedBytes,
    List<SiteVerdict> worst,
    Optional<String> worstInWords) {

  /** Most names in a summary. */
  public static final int TOP = 5;

  /** Rank down to which a name stays in the summary once it is in. */
  public static final int STAYING = 8;

  /** Most suspects that are recorded. */
  public static final int WORST = 5;

  public LeakSummary {
    suspected = List.copyOf(suspected);
    unusedBytes = List.copyOf(unusedBytes);
    worst = List.copyOf(worst);
  }

  @Figure(value = "Sites with the verdict leak", unit = COUNT)
  public int leaking() {
    return lost + outlasted + known;
  }
}
