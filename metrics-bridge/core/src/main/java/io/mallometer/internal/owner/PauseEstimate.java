package io.mallometer.internal.owner;

/**
 * An estimate of how long a walk over the Java heap stops the program. Only one thread of the JVM
 * runs during the walk, so the estimate is the CPU time of the walk, times the slowdown by other
 * processes and a quota. The rates are the highest that were measured on JDK 17 and 25, with
 * objects of 42 bytes, under G1, Serial and ZGC; the parallel collector of JDK 25 took up to 1.7 s
 * for each GiB. Smaller objects take longer. The duration of the latest walk corrects the next
 * estimate.
 *
 * @param heapBytes used bytes of the heap
 * @param marks whether the collector is ZGC or Shenandoah, which read each reference with a barrier
 * @param slowdown the time that a second of CPU time takes, in seconds: at least 1
 * @param correction the latest walk's duration as a multiple of its estimate; 1 before the first
 *     walk
 */
public record PauseEstimate(double heapBytes, boolean marks, double slowdown, double correction) {

  private static final double GIB = 1L << 30;

  /**
   * Rates of walks that search for referrers of one or several classes, in seconds of CPU time for
   * each GiB.
   */
  private static final double ONE_CLASS = 1.2;

  private static final double ONE_CLASS_MARKING = 2.8;
  private static final double SEVERAL_CLASSES = 5;

  /**
   * The seconds until all threads stand still, plus those for work that does not depend on the
   * heap.
   */
  private static final double LEAST_SECONDS = 0.02;

  /**
   * Returns the estimated seconds of a walk.
   *
   * @param severalClasses whether the walk searches for the referrers of objects of several classes
   */
  public double seconds(boolean severalClasses) {
    return uncorrected(severalClasses) * correction;
  }

  /** Returns the correction after a walk: its duration as a multiple of its estimate. */
  public double corrected(boolean severalClasses, double measuredSeconds) {
    return measuredSeconds / uncorrected(severalClasses);
  }

  private double uncorrected(boolean severalClasses) {
    double rate = severalClasses ? SEVERAL_CLASSES : marks ? ONE_CLASS_MARKING : ONE_CLASS;
    return (LEAST_SECONDS + rate * heapBytes / GIB) * slowdown;
  }

  /** Returns the memory that the JVM takes for a walk, in bytes: a bit set, and a stack. */
  public static double memoryBytes(double committedHeapBytes) {
    return committedHeapBytes / 64 + (20 << 20);
  }
}
