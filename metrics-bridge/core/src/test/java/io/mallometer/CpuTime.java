package io.mallometer;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/**
 * Measures the CPU time of work. In contrast to elapsed time, CPU time hardly depends on other
 * processes.
 */
public final class CpuTime {

  public interface Work {
    void run() throws Exception;
  }

  private CpuTime() {}

  public static Duration of(Work work) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long began = threads.getCurrentThreadCpuTime();
    work.run();
    return Duration.ofNanos(threads.getCurrentThreadCpuTime() - began);
  }
}
