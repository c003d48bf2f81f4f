package io.mallometer.benchmarks.leaks;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Runs one kernel, step after step, until the process ends. */
final class KernelThread extends Thread {

  private final Callable<Kernel> maker;
  private final Pace pace;

  KernelThread(String name, Callable<Kernel> maker, Pace pace) {
    super(name);
    this.maker = maker;
    this.pace = pace;
    setDaemon(true);
  }

  /** Creates a thread that does not keep the process alive. */
  static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void run() {
    try {
      Kernel kernel = maker.call();
      Duration begin = pace.age();
      for (long steps = 1; ; steps++) {
        kernel.step(pace.age().minus(begin));
        pace.until(begin.plus(kernel.period().multipliedBy(steps)));
      }
    } catch (Throwable e) {
      if (!pace.isOver()) {
        // A failed kernel would make the results wrong: the JVM ends at once.
        e.printStackTrace();
        Runtime.getRuntime().halt(3);
      }
    }
  }
}
