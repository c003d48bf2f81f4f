package io.mallometer.internal.owner;

/**
 * An estimate of how long a walk over the Java heap stops the program. One thread of the JVM does
 * the walk. The estimate is the CPU time of the walk, multiplied by {@code slowdown} and {@code
 * correction}. The slowdown is caused by other processes and by the CPU quota of the cgroup.
 *
 * <p>The rates are the highest that were measured with objects of 42 bytes on JDK 17 and 25, under
 * G1, Serial and ZGC. A walk over smaller objects takes longer. The parallel collector of JDK 25
 * took up to 1.7 s for each GiB.
 *
 * @param heapBytes used bytes of the heap
 * @param marks whether the collector is ZGC or Shenandoah, which read each reference with a barrier
 * @param slowdown the elapsed time divided by the CPU time of a busy thread, at least 1
 * @param correction the latest walk's duration as a multiple of its estimate; 1 before the first
 *     walk
 */
public record PauseEstimate(double heapBytes, boolean marks, double slowdown, double correction) {

  private static final double GIB = 1L << 30;

  /**
   * The three rates are CPU seconds per GiB of heap. A walk searches for the referrers of one class
   * or of several.
   */
  private static final double ONE_CLASS = 1.2;

  private static final double ONE_CLASS_MARKING = 2.8;
  private static final double SEVERAL_CLASSES = 5;

  /**
   * The seconds of a walk that do not depend on the heap's size, such as the wait until all threads
   * stand still.
   */
  private static final double LEAST_SECONDS = 0.02;

  public double seconds(boolean severalClasses) {
    return uncorrected(severalClasses) * correction;
  }

  public double corrected(boolean severalClasses, double measuredSeconds) {
    return measuredSeconds / uncorrected(severalClasses);
  }

  private double uncorrected(boolean severalClasses) {
    double rate = severalClasses ? SEVERAL_CLASSES : marks ? ONE_CLASS_MARKING : ONE_CLASS;
    return (LEAST_SECONDS + rate * heapBytes / GIB) * slowdown;
  }

  /** Returns the bytes that the JVM takes for a walk: a bit set, and a stack. */
  public static double memoryBytes(double committedHeapBytes) {
    return committedHeapBytes / 64 + (20 << 20);
  }
}
