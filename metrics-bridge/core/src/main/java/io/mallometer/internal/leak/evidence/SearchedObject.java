package io.mallometer.internal.leak.evidence;

/**
 * A sampled object whose addresses were searched for.
 *
 * @param id the object's number, the same in each search of this process
 * @param probability the probability with which the object was sampled; the sample stands for 1 /
 *     probability objects
 * @param bornNanos the moment of its allocation, by {@link System#nanoTime()}
 * @param references the number of words outside of the object that point into it
 * @param freed whether it was freed before the search ended; {@code references} then means nothing
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
