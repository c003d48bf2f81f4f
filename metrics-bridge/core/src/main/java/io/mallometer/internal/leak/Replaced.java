package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.SampledObject;

/**
 * How many bytes of a site's increase between two readings replace objects from before an attach.
 *
 * <p>Such objects belong to no site, so a site that replaces them seems to grow. What was freed of
 * them in all is known: it is the change of all sites' live bytes, an estimate from samples, less
 * the change of the exact counters. Samples that were live at both readings cancel, so only samples
 * that were born or freed in between contribute to its error. It is at least 0, and at most what
 * was live at the attach.
 *
 * <p>Which site replaced them is not known. So there are two answers, {@link #most} for a verdict
 * and {@link #least} for a rate. Without an attach both are 0.
 */
final class Replaced {

  private final float[] changes;
  private final float[] variances;
  private final double freed;
  private final double mostBefore;
  private final double variance;
  private final double risen;

  /**
   * Compares two readings.
   *
   * @param changes of the live bytes of each site, by its place
   * @param variances of these
   * @param netChange of the exact counters
   * @param mostBefore the most bytes that may have been live at the attach; 0 without attach
   */
  Replaced(float[] changes, float[] variances, double netChange, double mostBefore) {
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
   * Returns the most bytes that a site can have replaced: everything that was freed, with the error
   * that the other sites' samples contribute. The site's own error cancels, because its increase is
   * part of the estimate. An increase above that is growth.
   */
  double most(int site) {
    double others = Math.max(0, variance - of(variances, site));
    return within(freed + LeakThresholds.REPLACED_ERRORS * Math.sqrt(others));
  }

  /**
   * Returns the fewest bytes that sites together must have replaced: what was freed, less what all
   * other sites hold more, by their samples or by the error of these.
   */
  double least(Iterable<Integer> sites) {
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
    int place = SampledObject.placeOf(site);
    return place < figures.length ? figures[place] : 0;
  }
}
