package io.mallometer.internal.leak.evidence;

/**
 * A sampled object that is live. Moments are by {@link System#nanoTime()}.
 *
 * @param site the number of its call site
 * @param bytes its size
 * @param probability the probability of the sample, which stands for 1 / probability objects
 * @param placement the probability that the sample was put into a page slot: among objects in slots
 *     it stands for 1 / (probability * placement); 0 if it is in none
 * @param bornNanos the moment of its allocation
 * @param lastAccessNanos the end of the latest epoch with an access, or its birth without one; 0 if
 *     it is in no slot
 * @param oldCollections the old garbage collections that had begun before its allocation
 * @param collections all that had begun
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

  /** The most sites that the library knows at once. Their numbers differ modulo this one. */
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
   * Returns the index of a site in an array of all sites. Of the sites with the same index only one
   * has live samples: the library gives the room of a forgotten site to another site with a larger
   * number.
   */
  public static int arrayIndex(int site) {
    return Math.floorMod(site, MOST_SITES);
  }

  /** Returns whether accesses to it are seen. */
  public boolean inSlot() {
    return placement > 0;
  }

  /** Returns the number of objects that it stands for among all samples. */
  public double weight() {
    return 1 / probability;
  }

  /** Returns the number of objects that it stands for among those in slots. */
  public double slotWeight() {
    return 1 / (probability * placement);
  }
}
