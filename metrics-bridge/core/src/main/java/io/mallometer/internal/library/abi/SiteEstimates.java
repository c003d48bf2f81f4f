package io.mallometer.internal.library.abi;

import io.mallometer.model.Estimate;

/**
 * Objects and bytes of a call site, estimated from the library's sums over its samples.
 *
 * <p>The sums lack the allocations since the site's last sample. The variance therefore contains a
 * further term: the square of the mean number of objects or bytes per sample, times a factor. The
 * factor is close to 1 for small objects. It is 0 for objects of at least the sampling interval,
 * because nearly all of them are samples.
 */
final class SiteEstimates {

  private final Abi.SiteSums allocated;
  private final Abi.SiteSums freed;
  private final double interval;

  /**
   * Creates the estimates of a site.
   *
   * @param interval the sampling interval, in bytes; 1 if every allocation is a sample
   */
  SiteEstimates(Abi.Site site, double interval) {
    this.allocated = site.allocated();
    this.freed = site.freed();
    this.interval = interval;
  }

  long samples() {
    return allocated.samples();
  }

  Estimate allocatedObjects() {
    return allocated(allocated.objects(), allocated.objectsVariance());
  }

  Estimate allocatedBytes() {
    return allocated(allocated.bytes(), allocated.bytesVariance());
  }

  Estimate liveObjects() {
    return live(
        allocatedObjects(),
        allocated.objectsVariance(),
        allocated.objects() - freed.objects(),
        allocated.objectsVariance() - freed.objectsVariance());
  }

  Estimate liveBytes() {
    return live(
        allocatedBytes(),
        allocated.bytesVariance(),
        allocated.bytes() - freed.bytes(),
        allocated.bytesVariance() - freed.bytesVariance());
  }

  /** Returns the live bytes of a site, at least 0 in spite of rounding errors. */
  static double liveBytes(Abi.Site site) {
    return Math.max(0, site.allocated().bytes() - site.freed().bytes());
  }

  private Estimate allocated(double value, double variance) {
    long samples = allocated.samples();
    double left = 1 - allocated.bytes() / allocated.objects() / interval;
    double mean = value / samples;
    double since = interval > 1 && left > 0 ? mean * mean * left : 0;
    return new Estimate(value, variance + since, samples);
  }

  /**
   * Returns the estimate of the live objects or bytes. Without live samples, the estimate is 0, and
   * its variance is the square of a sample's weight.
   */
  private Estimate live(Estimate all, double sampledVariance, double value, double variance) {
    long samples = all.samples() - freed.samples();
    if (samples <= 0) {
      double one = all.value() > 0 ? all.variance() / all.value() : 0;
      return new Estimate(0, one * one, 0);
    }
    double live = Math.max(0, value);
    double since = all.variance() - sampledVariance;
    // MALLOMETER_ACCOUNTING=header counts requested sizes. A program may request 0 bytes, so
    // all.value() may be 0.
    double share = live > 0 ? live / all.value() : 0;
    return new Estimate(live, Math.max(0, variance) + since * share, samples);
  }
}
