package io.mallometer.internal.leak.evidence;

/**
 * A sampled object whose addresses were searched for.
 *
 * @param id the object's unique number, the same in each search of this process
 * @param site the number of its call site
 * @param bytes the size of the object
 * @param probability the probability with which the object was sampled; the sample stands for 1 /
 *     probability objects
 * @param bornNanos the moment of its allocation, by {@link System#nanoTime()}
 * @param references the number of words in memory that point into it, without those in the object
 *     itself; 0 if no address of it was found
 * @param freed whether it was freed before the search ended, so that its references mean nothing
 */
public record SearchedObject(
    long id,
    int site,
    long bytes,
    double probability,
    long bornNanos,
    long references,
    boolean freed) {

  /**
   * Returns whether the search found no address of the object, so that no code can use or free it.
   */
  public boolean lost() {
    return references == 0 && !freed;
  }
}
