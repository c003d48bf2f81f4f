package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

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

  /**
   * Findings of one name as one: it has the gravest verdict, and the sums of all. Its first site is
   * that of the gravest.
   */
  static Finding together(List<Finding> findings) {
    if (findings.size() == 1) {
      return findings.get(0);
    }
    List<Finding> worstFirst = new ArrayList<>(findings);
    worstFirst.sort(WORST_FIRST);
    Finding gravest = worstFirst.get(0);
    Judgement sum = gravest.standing().shown();
    List<CallSite> others = new ArrayList<>();
    for (Finding finding : worstFirst) {
      others.addAll(finding.subject().sites());
      sum = finding == gravest ? sum : sum.plus(finding.standing().shown());
    }
    CallSite first = others.remove(0);
    others.sort(SiteOrder.LIVE.comparator());
    others.add(0, first);
    Standing standing = gravest.standing();
    return of(
        new Subject(null, others, gravest.subject().judged(), gravest.subject().failed()),
        new Standing(
            standing.verdict(), standing.since(), standing.next(), standing.agreeing(), sum));
  }

  Verdict verdict() {
    return standing.verdict();
  }

  /** Whether an earlier verdict is the same, of the same. */
  boolean isOf(SiteVerdict earlier) {
    return earlier.site().number() == subject.number() && earlier.verdict() == verdict();
  }
}
