package io.mallometer.internal.leak.evidence;

/**
 * A sampled object that is live. Moments are by {@link System#nanoTime()}.
 *
 * @param site the number of its call site
 * @param bytes the size of the object
 * @param probability the probability with which the object was sampled; the sample stands for 1 /
 *     probability objects
 * @param placement the probability with which the sample was put into a page slot; among the
 *     samples in slots it stands for 1 / (probability * placement) objects. 0 if it is in no slot
 * @param bornNanos the moment of its allocation
 * @param lastAccessNanos the latest reading of the accessed bits that showed an access, or the
 *     moment of its allocation if none did; 0 if it is in no slot
 * @param oldCollections the number of collections of the old generation that had begun before its
 *     allocation
 * @param collections the number of garbage collections of any kind that had begun before its
 *     allocation
 */
public record SampledObject(
    int site,
    long bytes,
    double probability,
    double placement,
    long bornNanos,
    long lastAccessNanos,
    long oldCollections,
    long collections) {

  /**
   * The largest number of call sites that the library knows at a time. The numbers of all sites
   * that it knows at one time have different remainders when divided by this number.
   */
  public static final int MOST_SITES = 16_384;

  /** Creates an object that was allocated before any collection. */
  public SampledObject(
      int site,
      long bytes,
      double probability,
      double placement,
      long bornNanos,
      long lastAccessNanos) {
    this(site, bytes, probability, placement, bornNanos, lastAccessNanos, 0, 0);
  }

  /**
   * Returns the index of a site in an array of all sites. Only one of the sites with the same index
   * has live samples, because the library reuses the index of a site only after it has forgotten
   * the site.
   */
  public static int arrayIndex(int site) {
    return Math.floorMod(site, MOST_SITES);
  }

  /**
   * Returns whether the object is in a slot (a page of its own), in which accesses are observed.
   */
  public boolean inSlot() {
    return placement > 0;
  }

  /** Returns the number of objects that the sample stands for if all samples are summed. */
  public double weight() {
    return 1 / probability;
  }

  /**
   * Returns the number of objects for which the sample stands in sums over only the samples in
   * slots (pages of their own).
   */
  public double slotWeight() {
    return 1 / (probability * placement);
  }
}
