package io.mallometer.benchmarks.leaks;

import java.time.Duration;

/** Runs one kernel, step after step, until the process ends. */
final class KernelThread extends Thread {

  private final Class<? extends Kernel> type;
  private final Pace pace;

  KernelThread(Class<? extends Kernel> type, Pace pace) {
    super(type.getSimpleName());
    this.type = type;
    this.pace = pace;
    setDaemon(true);
  }

  @Override
  public void run() {
    try {
      Kernel kernel = type.getDeclaredConstructor().newInstance();
      Duration begin = pace.age();
      for (long steps = 1; ; steps++) {
        kernel.step(pace.age().minus(begin));
        pace.until(begin.plus(kernel.period().multipliedBy(steps)));
      }
    } catch (Throwable e) {
      if (!pace.isOver()) {
        // A run with a kernel that died would be judged by what is left.
        e.printStackTrace();
        Runtime.getRuntime().halt(3);
      }
    }
  }
}
