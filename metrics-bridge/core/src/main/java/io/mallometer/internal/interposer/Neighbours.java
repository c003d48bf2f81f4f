package io.mallometer.internal.interposer;

/**
 * The free memory on both sides of a sampled object in glibc's heap. Bytes.
 *
 * @param site the number of the object's call site
 * @param known whether the rest is known
 * @param last whether the heap ends behind the object, so that it separates only what is before
 * @param probability with which it was sampled: it stands for 1 / probability objects
 * @param bornNanos when it was allocated, by {@link System#nanoTime()}
 */
public record Neighbours(
    int site,
    boolean known,
    boolean last,
    double probability,
    long bornNanos,
    Side before,
    Side after) {

  /**
   * A free chunk; 0 if there is none.
   *
   * @param bytes all of it
   * @param residentBytes what of it is in memory
   * @param returnableBytes of that whole pages, which a trim gives back
   */
  public record Side(long bytes, long residentBytes, long returnableBytes) {}
}
