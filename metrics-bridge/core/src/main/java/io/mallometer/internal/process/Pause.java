package io.mallometer.internal.process;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Computes the pause after measured work, so that the work takes a small share of the time. */
public final class Pause {

  /** The pause as a multiple of the work's time: the work takes at most 0.1 % of a processor. */
  private static final long TIMES = 1_000;

  private Pause() {}

  /**
   * Returns the CPU time of the calling thread in nanoseconds, or the elapsed time if the JVM does
   * not measure CPU time.
   */
  public static long processorNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled()
        ? threads.getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  /**
   * Returns the pause after work that took {@code costNanos}, within bounds; all in nanoseconds.
   */
  public static long after(long costNanos, long shortest, long longest) {
    return Math.max(shortest, Math.min(longest, costNanos * TIMES));
  }
}
