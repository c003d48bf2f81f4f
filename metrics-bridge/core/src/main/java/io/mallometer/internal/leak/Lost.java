package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.SiteVerdict.Suspected;

/**
 * What two searches of the process's memory say of a site, of which objects are lost.
 *
 * @param sought live samples that both searched for
 * @param lost those of which neither found an address
 * @param bytes the share of lost bytes among the bytes that the samples stand for
 * @param objects the same share of the objects
 */
record Lost(int sought, int lost, Share bytes, Share objects) {

  /** The sum of two sites' samples, with the shares of the first. */
  Lost plus(Lost other) {
    return new Lost(sought + other.sought, lost + other.lost, bytes, objects);
  }

  /**
   * Returns the lost objects of a site. A search misses some: garbage and unused memory have
   * addresses of lost objects, most often of young ones. So objects that are old enough to be idle
   * are lost if they are idle, and of the others the share that two searches found is lost. They
   * have no idle time, as many are too young.
   *
   * @param idle the idle objects of the site
   * @param oldBytes the bytes that are old enough to be idle
   * @param oldObjects the objects that are
   */
  Suspected of(CallSite site, Suspected idle, Estimate oldBytes, Estimate oldObjects) {
    return new Suspected(
        part(bytes, site.liveBytes(), idle.bytes(), oldBytes),
        part(objects, site.liveObjects(), idle.objects(), oldObjects),
        Double.NaN,
        Double.NaN,
        site.ages().median(),
        site.ages().oldest());
  }

  private static Estimate part(Share lost, Estimate live, Estimate idle, Estimate old) {
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
