package io.mallometer.internal.leak;

import io.mallometer.model.CallSite;
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
   * Returns the lost objects of a site: the shares that the searches found, of all its live
   * objects. Nothing can access them, so they have no idle time.
   */
  Suspected of(CallSite site) {
    return new Suspected(
        bytes.times(site.liveBytes()),
        objects.times(site.liveObjects()),
        Double.NaN,
        Double.NaN,
        site.ages().median(),
        site.ages().oldest());
  }
}
