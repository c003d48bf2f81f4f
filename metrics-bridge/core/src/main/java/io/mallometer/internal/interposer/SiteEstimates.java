package io.mallometer.internal.interposer;

import io.mallometer.model.Estimate;

/**
 * Objects and bytes of a call site, estimated from the library's sums over its samples.
 *
 * <p>The library's variance is that of what was sampled. Allocations since the last sample may be
 * missing, so the square of a mean sample is added, less where samples are so large that none is
 * left out.
 */
final class SiteEstimates {

  private final Abi.SiteSums allocated;
  private final Abi.SiteSums freed;
  private final double interval;

  /**
   * The estimates of a site.
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

  /** Returns the live bytes of a site alone; rounding never leaves them below 0. */
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

  /** Without live samples the variance is the square of what one would stand for. */
  private Estimate live(Estimate all, double sampledVariance, double value, double variance) {
    long samples = all.samples() - freed.samples();
    if (samples <= 0) {
      double one = all.value() > 0 ? all.variance() / all.value() : 0;
      return new Estimate(0, one * one, 0);
    }
    double live = Math.max(0, value);
    double since = all.variance() - sampledVariance;
    // Objects can be empty where they have headers.
    double share = live > 0 ? live / all.value() : 0;
    return new Estimate(live, Math.max(0, variance) + since * share, samples);
  }
}
