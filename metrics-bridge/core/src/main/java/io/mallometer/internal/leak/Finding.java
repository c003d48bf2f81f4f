package io.mallometer.internal.leak;

import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.Comparator;

/**
 * What a verdict will be made of, if it is one of those in the report.
 *
 * @param weight by which verdicts of one kind are ordered
 */
record Finding(Subject subject, Standing standing, double liveBytes, double weight) {

  static final Comparator<Finding> WORST_FIRST =
      new Comparator<>() {
        @Override
        public int compare(Finding one, Finding other) {
          int byVerdict = one.verdict().compareTo(other.verdict());
          int byWeight = byVerdict != 0 ? byVerdict : Double.compare(other.weight(), one.weight());
          return byWeight != 0
              ? byWeight
              : Integer.compare(one.subject().number(), other.subject().number());
        }
      };

  static Finding of(Subject subject, Standing standing) {
    double live = subject.liveBytes();
    double suspected = standing.shown().suspected().bytes().value();
    boolean bySuspicion =
        standing.verdict() != Verdict.GROWING && standing.verdict() != Verdict.HEALTHY;
    double weight = bySuspicion && !Double.isNaN(suspected) ? suspected : live;
    return new Finding(subject, standing, live, weight);
  }

  Verdict verdict() {
    return standing.verdict();
  }

  /** Whether an earlier verdict is the same, of the same. */
  boolean isOf(SiteVerdict earlier) {
    return earlier.site().number() == subject.number() && earlier.verdict() == verdict();
  }
}
