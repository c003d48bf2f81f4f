package io.mallometer.internal.owner;

/**
 * How long a walk over the Java heap will stop the program. Only the JVM's own thread runs
 * meanwhile, so the time is what the walk takes of one processor, times what other work and a quota
 * make of it. Measured on JDK 17 and 25 with objects of 42 bytes: the rates are the upper ends of
 * what was measured with G1, Serial and ZGC; the parallel collector of JDK 25 took up to 1.7 s.
 * Smaller objects take longer. After the first walk its own time corrects the others.
 *
 * @param heapBytes used bytes of the heap
 * @param marks whether the collector is ZGC or Shenandoah, which read each reference with a barrier
 * @param slowdown by how much longer a second of processor time takes: at least 1
 * @param correction the latest walk's time, as a multiple of what was estimated; 1 before
 */
public record PauseEstimate(double heapBytes, boolean marks, double slowdown, double correction) {

  private static final double GIB = 1L << 30;

  /** Seconds of processor time for each GiB. */
  private static final double ONE_CLASS = 1.2;

  private static final double ONE_CLASS_MARKING = 2.8;
  private static final double SEVERAL_CLASSES = 5;

  /** Until all threads stand still, and for what does not depend on the heap. */
  private static final double LEAST_SECONDS = 0.02;

  /**
   * Returns seconds for a walk.
   *
   * @param severalClasses whether it looks for what refers to objects of several classes
   */
  public double seconds(boolean severalClasses) {
    return uncorrected(severalClasses) * correction;
  }

  /** Returns the estimate that the time of a walk corrects. */
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
