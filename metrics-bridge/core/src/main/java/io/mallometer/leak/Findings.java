package io.mallometer.leak;

import io.mallometer.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/** The findings that come into a report: of healthy sites those with most live bytes. */
final class Findings {

  /** As many healthy ones. */
  static final int MOST_HEALTHY = 200;

  private final List<Finding> suspicious = new ArrayList<>();

  /** The first is that which the next one with more live bytes takes the place of. */
  private final PriorityQueue<Finding> healthy =
      new PriorityQueue<>(MOST_HEALTHY, Finding.WORST_FIRST.reversed());

  void add(Finding finding) {
    if (finding.verdict() != Verdict.HEALTHY) {
      suspicious.add(finding);
    } else if (healthy.size() < MOST_HEALTHY) {
      healthy.add(finding);
    } else if (Finding.WORST_FIRST.compare(finding, healthy.element()) < 0) {
      healthy.remove();
      healthy.add(finding);
    }
  }

  List<Finding> worstFirst() {
    List<Finding> all = new ArrayList<>(suspicious);
    all.addAll(healthy);
    all.sort(Finding.WORST_FIRST);
    return all;
  }
}
