package io.mallometer.benchmarks.leaks;

import java.time.Duration;

/**
 * A piece of a program that allocates native memory over and over, in the way that a certain
 * mistake or a certain good habit does.
 *
 * <p>Each kernel is a class of its own, so that its name is in the stacks of what it allocates.
 */
interface Kernel {

  /** Time from the beginning of one step to that of the next. */
  Duration period();

  /**
   * Does one piece of work, on the kernel's own thread.
   *
   * @param age since the kernel began, in the time that {@link #period()} is told in
   */
  void step(Duration age) throws Throwable;
}
