package io.mallometer;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/** Measures the CPU time of work. Unlike a duration, it does not depend on other processes. */
public final class CpuTime {

  public interface Work {
    void run() throws Exception;
  }

  private CpuTime() {}

  /** Returns the CPU time that the calling thread needs for some work. */
  public static Duration of(Work work) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long began = threads.getCurrentThreadCpuTime();
    work.run();
    return Duration.ofNanos(threads.getCurrentThreadCpuTime() - began);
  }
}
