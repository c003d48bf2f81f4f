package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.SampledObject;

/**
 * Estimates how many bytes of new objects merely replaced objects from before an attach, in the
 * time between two readings.
 *
 * <p>Objects from before an attach belong to no call site, so a site that replaces them seems to
 * grow. When such an object is freed, the live bytes of the exact counters decrease, but those of
 * the sites do not. Therefore, the freed bytes of these objects equal the growth of all sites
 * (estimated from samples) minus the growth of the live bytes of the exact counters. A sample that
 * is live at both readings adds no error, because it cancels out.
 *
 * <p>The sum of freed bytes does not show which site replaced the objects. Therefore {@link
 * #mostBytes} returns an upper bound, which verdicts use, and {@link #leastBytes} a lower bound,
 * which rates use. Without an attach both bounds are 0.
 */
final class ReplacedBytes {

  private final float[] changes;
  private final float[] variances;
  private final double freed;
  private final double mostBefore;
  private final double variance;
  private final double risen;

  /**
   * Compares two readings.
   *
   * @param changes the changes of each site's live bytes, by the array index of the site
   * @param variances the variances of these changes
   * @param netChange the change of allocated minus freed bytes, by the exact counters
   * @param mostBefore an upper bound of the bytes that were live at the attach; 0 without an attach
   */
  ReplacedBytes(float[] changes, float[] variances, double netChange, double mostBefore) {
    this.changes = changes;
    this.variances = variances;
    this.mostBefore = mostBefore;
    double change = 0;
    double sum = 0;
    double rises = 0;
    for (int site = 0; site < changes.length; site++) {
      change += changes[site];
      sum += variances[site];
      rises += risen(site);
    }
    this.freed = change - netChange;
    this.variance = sum;
    this.risen = rises;
  }

  /**
   * Returns an upper bound of the replaced bytes of the given sites: bytes of new objects that
   * merely replaced objects from before an attach. The bound is the estimate of all freed bytes of
   * objects from before the attach, plus a margin for the sampling errors of all other sites. The
   * errors of the given sites need no margin: the caller compares the bound with the growth of
   * these sites, which contains the same errors, so they cancel out.
   */
  double mostBytes(Iterable<Integer> sites) {
    double others = variance;
    for (int site : sites) {
      others -= of(variances, site);
    }
    return within(freed + LeakThresholds.REPLACED_ERRORS * Math.sqrt(Math.max(0, others)));
  }

  /**
   * Returns a lower bound of the given sites' new bytes that merely replaced objects from before an
   * attach. Other sites can have replaced at most as many bytes as they grew by. So the bound is
   * the freed bytes of objects from before the attach, minus the growth of the other sites and a
   * margin for sampling errors.
   */
  double leastBytes(Iterable<Integer> sites) {
    double others = risen;
    double chance = variance;
    for (int site : sites) {
      others -= risen(site);
      chance -= of(variances, site);
    }
    others += LeakThresholds.RISEN_ERRORS * Math.sqrt(Math.max(0, chance));
    return Math.max(0, within(freed) - others);
  }

  private double within(double bytes) {
    return Math.max(0, Math.min(mostBefore, bytes));
  }

  private double risen(int site) {
    double change = of(changes, site);
    return change > LeakThresholds.RISEN_ERRORS * Math.sqrt(of(variances, site)) ? change : 0;
  }

  private static double of(float[] figures, int site) {
    int place = SampledObject.arrayIndex(site);
    return place < figures.length ? figures[place] : 0;
  }
}
