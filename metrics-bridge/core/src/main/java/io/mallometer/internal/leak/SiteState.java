package io.mallometer.internal.leak;

import io.mallometer.model.Verdict;
import java.time.Instant;

/**
 * The verdict on one or several stacks, and the number of evaluations that already support another
 * verdict. Immutable.
 *
 * @param since the moment at which the verdict began
 * @param next the verdict of the latest evaluation
 * @param agreements for how many evaluations in a row {@code next} was found instead of {@code
 *     verdict}; if {@code verdict} is LEAK, how many in a row contradicted it. 0 if the latest
 *     confirmed {@code verdict}
 * @param shown if {@code verdict} is HEALTHY, the latest assessment; otherwise the latest that
 *     agreed with {@code verdict}
 */
record SiteState(Verdict verdict, Instant since, Verdict next, int agreements, Assessment shown) {

  static SiteState of(Assessment latest, Instant time) {
    return new SiteState(Verdict.HEALTHY, time, Verdict.HEALTHY, 0, latest);
  }

  SiteState after(Assessment latest, Instant time) {
    Verdict raw = latest.verdict();
    boolean leak = isLeak();
    if (raw == verdict) {
      return confirmedBy(isWeaker(latest) ? shown : latest);
    }
    if (verdict == Verdict.UNUSED && latest.staysUnused()) {
      return confirmedBy(latest);
    }
    if (leak && !latest.refutesLeak() && !isUnproven(latest)) {
      return confirmedBy(shown);
    }
    int now = leak || raw == next ? agreements + 1 : 1;
    return now >= evaluationsNeeded(latest)
        ? new SiteState(raw, time, raw, 0, latest)
        : new SiteState(verdict, since, raw, now, isHealthy() ? latest : shown);
  }

  /**
   * Returns whether the latest assessment has weaker evidence of a leak than the shown one. A leak
   * in an earlier run is weaker evidence than objects that were idle for longer than {@code
   * leak.longest-timeout}.
   */
  private boolean isWeaker(Assessment latest) {
    return isLeak() && latest.known() != null && shown.known() == null && shown.lost() == null;
  }

  private boolean isUnproven(Assessment latest) {
    return shown.lost() != null && latest.lost() == null;
  }

  /**
   * Returns how many evaluations in a row are needed to change the verdict. The end of a leak or of
   * growth needs the most evaluations. A change to a graver verdict needs only one if the memory is
   * growing, unused or lost, because the memory was observed for minutes before.
   */
  private int evaluationsNeeded(Assessment latest) {
    if (isLeak()) {
      return LeakThresholds.EVALUATIONS_TO_CLEAR;
    }
    if (latest == Assessment.NONE_LEFT) {
      return 1;
    }
    if (verdict == Verdict.GROWING && latest.verdict() == Verdict.HEALTHY) {
      return LeakThresholds.EVALUATIONS_TO_CLEAR;
    }
    boolean soon =
        latest.verdict() == Verdict.UNUSED
            || latest.verdict() == Verdict.GROWING
            || latest.lost() != null;
    return soon && latest.verdict().compareTo(verdict) < 0
        ? 1
        : LeakThresholds.EVALUATIONS_TO_CHANGE;
  }

  SiteState confirmedBy(Assessment latest) {
    return agreements == 0 && shown == latest
        ? this
        : new SiteState(verdict, since, verdict, 0, latest);
  }

  SiteState ignoring(Assessment latest) {
    return isHealthy() ? new SiteState(verdict, since, next, agreements, latest) : this;
  }

  SiteState since(Instant begin) {
    return new SiteState(verdict, begin, next, agreements, shown);
  }

  SiteState healthySince(Instant begin) {
    return isHealthy() ? since(begin) : this;
  }

  boolean isLeak() {
    return verdict == Verdict.LEAK;
  }

  private boolean isHealthy() {
    return verdict == Verdict.HEALTHY;
  }

  boolean isHealthySince(Instant time) {
    return isHealthy() && agreements == 0 && since.equals(time);
  }
}
