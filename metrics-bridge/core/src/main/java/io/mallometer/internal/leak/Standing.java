package io.mallometer.internal.leak;

import io.mallometer.model.Verdict;
import java.time.Instant;

/**
 * The verdict of a site, and what speaks for another. Immutable.
 *
 * @param verdict the verdict
 * @param since since when it is this
 * @param next what the latest evaluations said
 * @param agreeing how many of them in a row; of a leak, how many spoke against it, whatever they
 *     said it is instead
 * @param shown the latest judgement that agreed with the verdict; of what is healthy the latest,
 *     whatever it says
 */
record Standing(Verdict verdict, Instant since, Verdict next, int agreeing, Judgement shown) {

  /** Before any evaluation counts. */
  static Standing of(Judgement judged, Instant time) {
    return new Standing(Verdict.HEALTHY, time, Verdict.HEALTHY, 0, judged);
  }

  /** After another evaluation. */
  Standing after(Judgement judged, Instant time) {
    Verdict raw = judged.verdict();
    boolean leak = isLeak();
    if (raw == verdict) {
      return showing(isWeaker(judged) ? shown : judged);
    }
    if (leak && !judged.refutesLeak() && !isUnproven(judged)) {
      return showing(shown);
    }
    int now = leak || raw == next ? agreeing + 1 : 1;
    return now >= needed(judged)
        ? new Standing(raw, time, raw, 0, judged)
        : new Standing(verdict, since, raw, now, isHealthy() ? judged : shown);
  }

  /**
   * Whether it says less than what is shown: what outlasted the longest timeout stays so while an
   * earlier run speaks for it, too.
   */
  private boolean isWeaker(Judgement judged) {
    return isLeak() && judged.known() != null && shown.known() == null && shown.lost() == null;
  }

  /** Whether later searches found what earlier ones had not. */
  private boolean isUnproven(Judgement judged) {
    return shown.lost() != null && judged.lost() == null;
  }

  /**
   * What is growing, unused or lost was seen for minutes when it is first found. What is said of
   * objects is over when they are freed.
   */
  private int needed(Judgement judged) {
    if (isLeak()) {
      return LeakThresholds.AGREEING_TO_CLEAR;
    }
    if (judged == Judgement.noneLeft()) {
      return 1;
    }
    boolean soon =
        judged.verdict() == Verdict.UNUSED
            || judged.verdict() == Verdict.GROWING
            || judged.lost() != null;
    return soon && judged.verdict().compareTo(verdict) < 0 ? 1 : LeakThresholds.AGREEING;
  }

  /** The same verdict, confirmed by a judgement. */
  Standing showing(Judgement judged) {
    return agreeing == 0 && shown == judged
        ? this
        : new Standing(verdict, since, verdict, 0, judged);
  }

  boolean isLeak() {
    return verdict == Verdict.LEAK;
  }

  private boolean isHealthy() {
    return verdict == Verdict.HEALTHY;
  }

  /** Whether it is healthy since a moment, and the latest evaluation said so. */
  boolean isHealthySince(Instant time) {
    return isHealthy() && agreeing == 0 && since.equals(time);
  }
}
