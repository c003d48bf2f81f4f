package io.mallometer.internal.leak;

import io.mallometer.model.Verdict;
import java.time.Instant;

/**
 * The verdict on a stack, or on several together, and the evidence for another one. Immutable.
 *
 * @param verdict the verdict
 * @param since the moment of this verdict
 * @param next the verdict of the latest evaluations
 * @param agreements the number of evaluations in a row that agreed on it; of a leak, those that
 *     spoke against it, with any verdict
 * @param shown the latest assessment that agreed with the verdict; of healthy sites, the latest
 */
record SiteState(Verdict verdict, Instant since, Verdict next, int agreements, Assessment shown) {

  /** Returns the state before any evaluation counts. */
  static SiteState of(Assessment latest, Instant time) {
    return new SiteState(Verdict.HEALTHY, time, Verdict.HEALTHY, 0, latest);
  }

  /** Returns the state after another evaluation. */
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
   * Returns whether an assessment is weaker than the shown one: a leak that outlasted the longest
   * timeout stays one while only an earlier run supports it.
   */
  private boolean isWeaker(Assessment latest) {
    return isLeak() && latest.known() != null && shown.known() == null && shown.lost() == null;
  }

  /** Returns whether later searches found addresses that earlier ones had not. */
  private boolean isUnproven(Assessment latest) {
    return shown.lost() != null && latest.lost() == null;
  }

  /**
   * Returns the evaluations needed for another verdict. Growing, unused and lost memory was
   * observed for minutes when first found. Growth ends after minutes without it, other verdicts
   * when all objects are freed.
   */
  private int evaluationsNeeded(Assessment latest) {
    if (isLeak()) {
      return LeakThresholds.EVALUATIONS_TO_CLEAR;
    }
    if (latest == Assessment.noneLeft()) {
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

  /** Returns this verdict, confirmed by an assessment. */
  SiteState confirmedBy(Assessment latest) {
    return agreements == 0 && shown == latest
        ? this
        : new SiteState(verdict, since, verdict, 0, latest);
  }

  /** Returns this state after an evaluation that does not count; a healthy state shows it. */
  SiteState ignoring(Assessment latest) {
    return isHealthy() ? new SiteState(verdict, since, next, agreements, latest) : this;
  }

  /** Returns the same verdict with another beginning. */
  SiteState since(Instant begin) {
    return new SiteState(verdict, begin, next, agreements, shown);
  }

  /** Returns this state, which begins at a moment if it is healthy. */
  SiteState healthySince(Instant begin) {
    return isHealthy() ? since(begin) : this;
  }

  boolean isLeak() {
    return verdict == Verdict.LEAK;
  }

  private boolean isHealthy() {
    return verdict == Verdict.HEALTHY;
  }

  /** Returns whether it is healthy since a moment, and the latest evaluation agreed. */
  boolean isHealthySince(Instant time) {
    return isHealthy() && agreements == 0 && since.equals(time);
  }
}
