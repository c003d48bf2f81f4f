package io.mallometer.internal.leak.evidence;

/**
 * A live sampled object. Some samples are in slots, which are pages of their own, so that accesses
 * to them can be observed. Moments are by {@link System#nanoTime()}.
 *
 * @param probability the probability with which the object was sampled; the sample stands for 1 /
 *     probability objects
 * @param placement the probability with which the sample was put into a slot; 0 if it is in no slot
 * @param lastAccessNanos the latest reading of the accessed bits that showed an access, or the
 *     moment of the allocation if no reading did; 0 if the sample is in no slot
 * @param oldCollections the number of collections of the old generation that had begun before the
 *     allocation
 * @param collections the number of all garbage collections that had begun before the allocation
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
   * The most call sites that the library knows at a time. Their numbers modulo this value are
   * distinct.
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

  public static int arrayIndex(int site) {
    return Math.floorMod(site, MOST_SITES);
  }

  public boolean inSlot() {
    return placement > 0;
  }

  /** Returns how many objects the sample stands for in a sum over all samples. */
  public double weight() {
    return 1 / probability;
  }

  /**
   * Returns how many objects the sample stands for in a sum that includes only samples in slots
   * (pages of their own).
   */
  public double slotWeight() {
    return 1 / (probability * placement);
  }
}
