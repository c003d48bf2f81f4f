package io.mallometer.internal.leak;

import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/** The findings that come into a report: of healthy sites those with most live bytes. */
final class Findings {

  /** As many healthy ones. */
  private static final int MOST_HEALTHY = 200;

  private final List<Finding> suspicious = new ArrayList<>();

  /** The first is the one with fewest live bytes, whose place the next takes that has more. */
  private final PriorityQueue<Finding> healthy =
      new PriorityQueue<>(Finding.WORST_FIRST.reversed());

  void add(Subject subject, Standing standing) {
    if (standing.verdict() != Verdict.HEALTHY) {
      suspicious.add(Finding.of(subject, standing));
    } else if (healthy.size() < MOST_HEALTHY
        || !(subject.liveBytes() < healthy.element().liveBytes())) {
      healthy.add(Finding.of(subject, standing));
      if (healthy.size() > MOST_HEALTHY) {
        healthy.remove();
      }
    }
  }

  List<Finding> worstFirst() {
    List<Finding> all = new ArrayList<>(suspicious);
    all.addAll(healthy);
    all.sort(Finding.WORST_FIRST);
    return all;
  }
}
