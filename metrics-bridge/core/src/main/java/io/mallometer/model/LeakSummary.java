package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.model.SiteSummary.Share;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A summary of the leaks and other suspected call sites for the meters. It omits acknowledged sites
 * and the sites of HotSpot and mallometer.
 *
 * <p>The number of names is limited: a name enters the summary at rank {@value #TOP} or better, and
 * leaves it below rank {@value #STAYING}.
 *
 * @param worst the first {@value #WORST} leaks of the {@link LeakReport}
 * @param worstInWords the sentence of the first leak; empty if there is none
 */
public record LeakSummary(
    @Figure("When the sites were judged") Instant time,
    @Figure(value = "Call sites by verdict", inline = true) Counts counts,
    @Figure(
            value =
                "Native memory in lost or idle objects of call sites with the verdict leak, estimated, by name; most first, the last being other",
            unit = BYTES)
        List<Share> suspected,
    @Figure(
            value =
                "Native memory in idle objects of call sites with the verdict unused, estimated, by name; most first, the last being other",
            unit = BYTES)
        List<Share> unusedBytes,
    List<SiteVerdict> worst,
    Optional<String> worstInWords) {

  /** The most names that enter a summary. */
  public static final int TOP = 5;

  /** The worst rank at which a name stays in the summary. */
  public static final int STAYING = 8;

  /** The most leaks in {@link #worst}. */
  public static final int WORST = 5;

  /** The numbers of call sites by verdict. */
  public record Counts(
      @Figure(value = "Call sites with the verdict leak by lost", unit = COUNT) int lost,
      @Figure(value = "Call sites with the verdict leak by outlasted", unit = COUNT) int outlasted,
      @Figure(value = "Call sites with the verdict leak by known", unit = COUNT) int known,
      @Figure(value = "Call sites with the verdict unused", unit = COUNT) int unused,
      @Figure(value = "Call sites with the verdict growing", unit = COUNT) int growing,
      @Figure(value = "Call sites with the verdict waits_for_gc", unit = COUNT) int waiting,
      @Figure(value = "Call sites with the verdict pool", unit = COUNT) int pools) {

    @Figure(value = "Call sites with the verdict leak: by lost, outlasted or known", unit = COUNT)
    public int leaking() {
      return lost + outlasted + known;
    }
  }

  public LeakSummary {
    suspected = List.copyOf(suspected);
    unusedBytes = List.copyOf(unusedBytes);
    worst = List.copyOf(worst);
  }
}
