package io.mallometer.benchmarks.leaks;

import java.time.Duration;

/**
 * A clock that may run faster than the real time, so that an hour of a program passes in minutes.
 * The kernels do the same between two moments at any scale.
 */
final class Pace {

  private final double scale;
  private final long start = System.nanoTime();
  private volatile boolean over;

  Pace(double scale) {
    this.scale = scale;
  }

  Duration age() {
    return Duration.ofNanos((long) ((System.nanoTime() - start) * scale));
  }

  /** Ends the run; later failures are ignored. */
  void end() {
    over = true;
  }

  boolean isOver() {
    return over;
  }

  /** Sleeps until an age; returns at once if it has passed. */
  void until(Duration age) throws InterruptedException {
    long nanos = (long) (age.minus(age()).toNanos() / scale);
    if (nanos > 0) {
      Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
    }
  }
}
