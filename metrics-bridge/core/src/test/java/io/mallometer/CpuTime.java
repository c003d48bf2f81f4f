package io.mallometer;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/** The processor time of work, which unlike its duration does not depend on other processes. */
public final class CpuTime {

  /** Work of the calling thread. */
  public interface Work {
    void run() throws Exception;
  }

  private CpuTime() {}

  /** Returns the processor time that some work takes the calling thread. */
  public static Duration of(Work work) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long began = threads.getCurrentThreadCpuTime();
    work.run();
    return Duration.ofNanos(threads.getCurrentThreadCpuTime() - began);
  }
}
