package io.mallometer.internal.leak;

import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The findings that come into a report: of healthy sites those with most live bytes. Call sites are
 * judged each by itself, since a leak behind a wrapper that others share is told apart by its
 * stack; shown are those that are suspected under one name as one, since native offsets, inlining
 * and one more caller make several stacks of one leak.
 */
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

  /** The findings of the report, in no order. */
  List<Finding> all() {
    List<Finding> all = new ArrayList<>(healthy);
    all.addAll(suspicious);
    return all;
  }

  static boolean isSuspect(Verdict verdict) {
    return verdict.compareTo(Verdict.GROWING) <= 0;
  }

  /** Suspects of one name are one, and so are its pools. */
  List<Finding> byNameWorstFirst() {
    List<Finding> all = new ArrayList<>(healthy);
    Map<Standings.Name, List<Finding>> suspects = new HashMap<>();
    Map<Standings.Name, List<Finding>> pools = new HashMap<>();
    for (Finding finding : suspicious) {
      (isSuspect(finding.verdict()) ? suspects : pools)
          .computeIfAbsent(finding.subject().name(), name -> new ArrayList<>())
          .add(finding);
    }
    for (List<Finding> same : suspects.values()) {
      all.add(Finding.together(same));
    }
    for (List<Finding> same : pools.values()) {
      all.add(Finding.together(same));
    }
    all.sort(Finding.WORST_FIRST);
    return all;
  }
}
