package io.mallometer.internal.leak.evidence;

/**
 * A live sampled object. Moments are by {@link System#nanoTime()}. A slot is a page of its own, in
 * which accesses are observed.
 *
 * @param probability the probability with which the object was sampled; the sample stands for 1 /
 *     probability objects
 * @param placement the probability with which the sample was put into a slot; 0 if it is in no slot
 * @param lastAccessNanos the latest reading that showed an access, or the moment of its allocation
 *     if none did; 0 if it is in no slot
 * @param oldCollections the number of collections of the old generation that had begun before its
 *     allocation
 * @param collections the number of all garbage collections that had begun before its allocation
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
   * The largest number of call sites that the library knows at a time. Their numbers all differ
   * modulo this number.
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
   * Returns the weight of this sample in a sum over the samples in slots: the number of objects for
   * which it stands there.
   */
  public double slotWeight() {
    return 1 / (probability * placement);
  }
}
