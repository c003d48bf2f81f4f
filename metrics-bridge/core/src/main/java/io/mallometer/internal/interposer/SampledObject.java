package io.mallometer.internal.interposer;

/**
 * A sampled object that is live. Moments are by {@link System#nanoTime()}.
 *
 * @param site the number of its call site
 * @param bytes its size
 * @param probability with which it was sampled: it stands for 1 / probability objects
 * @param placement with which, once sampled, it was put into a page slot: of what is known of slots
 *     alone it stands for 1 / (probability * placement) objects; 0 if it is in none
 * @param bornNanos when it was allocated
 * @param lastAccessNanos the end of the latest epoch in which it was touched, its birth if nobody
 *     touched it since; 0 if it is in no slot
 */
public record SampledObject(
    int site,
    long bytes,
    double probability,
    double placement,
    long bornNanos,
    long lastAccessNanos) {

  /** The most sites that the library knows at once. Their numbers differ modulo this one. */
  static final int MOST_SITES = 16_384;

  /**
   * Returns the index of a site in an array of all sites. Of the sites with the same index only one
   * has live samples: the library gives the room of a forgotten site to another site with a larger
   * number.
   */
  public static int placeOf(int site) {
    return Math.floorMod(site, MOST_SITES);
  }

  /** Whether its use is seen. */
  public boolean inSlot() {
    return placement > 0;
  }

  /** How many objects it stands for among all samples. */
  public double weight() {
    return 1 / probability;
  }

  /** How many objects it stands for among those in slots. */
  public double slotWeight() {
    return 1 / (probability * placement);
  }
}
