package io.mallometer.model;

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
 * @param time when the sites were judged
 * @param lost sites with the verdict {@link Verdict#LEAK} by {@link LeakEvidence#LOST}
 * @param outlasted those by {@link LeakEvidence#OUTLASTED}
 * @param known those by {@link LeakEvidence#KNOWN}
 * @param unused sites with the verdict {@link Verdict#UNUSED}
 * @param growing sites with the verdict {@link Verdict#GROWING}
 * @param pools sites with the verdict {@link Verdict#POOL}
 * @param suspected suspected bytes of the leaking ones by name, most first, the last being {@link
 *     SiteSummary#OTHER}; empty if none leaks
 * @param unusedBytes the same of the unused ones; empty if there is none
 * @param worst the leaking sites that keep most, at most {@value #WORST}, most first
 * @param worstInWords the first of them: of those that grow the one that keeps most; empty if none
 *     leaks
 */
public record LeakSummary(
    Instant time,
    int lost,
    int outlasted,
    int known,
    int unused,
    int growing,
    int pools,
    List<Share> suspected,
    List<Share> unusedBytes,
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

  /** Sites with the verdict {@link Verdict#LEAK}. */
  public int leaking() {
    return lost + outlasted + known;
  }
}
