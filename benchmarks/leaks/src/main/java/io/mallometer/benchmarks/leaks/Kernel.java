package io.mallometer.benchmarks.leaks;

import java.time.Duration;

/**
 * A piece of a program that allocates native memory again and again, with a certain mistake or a
 * certain good habit.
 *
 * <p>Each kernel is a class of its own, so that its name is in the stacks of its allocations.
 */
interface Kernel {

  /** Returns the time from the start of one step to that of the next. */
  Duration period();

  /**
   * Does one piece of work, on the kernel's own thread.
   *
   * @param age the kernel's age, in the time of {@link #period()}
   */
  void step(Duration age) throws Throwable;
}
