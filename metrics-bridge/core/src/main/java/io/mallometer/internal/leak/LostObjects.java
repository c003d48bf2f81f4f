package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteVerdict.Suspected;

/**
 * The lost objects of a site, by two searches of the process's memory.
 *
 * @param searched the number of live samples that both searches looked for
 * @param lost the number of these samples of which neither search found an address
 * @param bytes the share of lost bytes
 * @param objects the share of lost objects
 */
record LostObjects(int searched, int lost, EstimatedShare bytes, EstimatedShare objects) {

  LostObjects plus(LostObjects other) {
    return new LostObjects(searched + other.searched, lost + other.lost, bytes, objects);
  }

  /**
   * Estimates the lost objects of a site. All idle objects count as lost, because a search misses
   * lost objects whose addresses are in garbage or in unused memory. The share of lost objects
   * among the searched samples is assumed to hold for the objects that are too young to be idle.
   * The result has no idle time, because it includes young objects.
   *
   * @param oldBytes the bytes that are old enough to be idle
   * @param oldObjects the objects that are old enough to be idle
   */
  Suspected suspected(CallSite site, Suspected idle, Estimate oldBytes, Estimate oldObjects) {
    return new Suspected(
        part(bytes, site.liveBytes(), idle.bytes(), oldBytes),
        part(objects, site.liveObjects(), idle.objects(), oldObjects),
        Double.NaN,
        Double.NaN,
        site.ages().median(),
        site.ages().oldest());
  }

  private static Estimate part(EstimatedShare lost, Estimate live, Estimate idle, Estimate old) {
    Estimate ofAll = lost.times(live);
    double others = Math.max(0, live.value() - old.value());
    if (!(idle.value() > 0) || !(live.value() > 0)) {
      return ofAll;
    }
    double variance = live.variance() * others / live.value();
    Estimate sum = idle.plus(lost.times(new Estimate(others, variance, live.samples())));
    return sum.value() > ofAll.value() ? sum : ofAll;
  }
}
