package io.mallometer.internal.interposer;

/**
 * A sampled object whose addresses were searched for.
 *
 * @param id the same in each search of this process, and no other object's
 * @param site the number of its call site
 * @param bytes its size
 * @param probability with which it was sampled: it stands for 1 / probability objects
 * @param bornNanos when it was allocated, by {@link System#nanoTime()}
 * @param references how many words in memory point into it, those in the object itself left out; 0:
 *     no address of it was found
 * @param freed whether it was freed before the search ended, so that its references mean nothing
 */
public record SoughtObject(
    long id,
    int site,
    long bytes,
    double probability,
    long bornNanos,
    long references,
    boolean freed) {

  /** Whether nobody can use or free it any more, as far as this search can tell. */
  public boolean lost() {
    return references == 0 && !freed;
  }
}
