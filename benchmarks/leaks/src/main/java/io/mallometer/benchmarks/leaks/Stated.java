package io.mallometer.benchmarks.leaks;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A kernel that states the truth about itself: the right verdict, the longest idle time of an
 * object, and at any moment the bytes that it has leaked.
 */
abstract class Stated implements Kernel {

  /** The kinds of kernels, by the use of their memory. */
  enum Truth {
    /** All memory is used or freed within the longest idle time, and has a bound. */
    LOOK_ALIKE,
    /** All memory is used again within the longest idle time, and has no bound. */
    GROWING,
    /** Java holds objects that it never uses or frees. */
    LEAK,
    /** The last address of the objects is lost. */
    LOST
  }

  private final Truth truth;
  private final Duration longestIdle;
  private final double bytesPerMinute;
  private final AtomicLong leaked = new AtomicLong();

  /**
   * States the truth.
   *
   * @param longestIdle the longest time between two uses of an object that is not leaked, or from
   *     its last use to its end
   * @param bytesPerMinute the bytes that the kernel leaks in a minute; for kernels without a leak,
   *     the bytes that it allocates
   */
  Stated(Truth truth, Duration longestIdle, double bytesPerMinute) {
    this.truth = truth;
    this.longestIdle = longestIdle;
    this.bytesPerMinute = bytesPerMinute;
  }

  /** Adds bytes that will never be used again. */
  final void leaked(long bytes) {
    leaked.addAndGet(bytes);
  }

  /** Returns the bytes leaked so far, as a member of a JSON object. */
  final String leakedNow() {
    return String.format("\"%s\":%d", Kernels.name(getClass()), leaked.get());
  }

  /** Returns the stated truth, as a member of a JSON object. */
  final String statement() {
    return String.format(
        Locale.ROOT,
        "\"%s\":{\"truth\":\"%s\",\"idleSeconds\":%d,\"bytesPerMinute\":%.0f}",
        Kernels.name(getClass()),
        truth.name().toLowerCase(Locale.ROOT),
        longestIdle.toSeconds(),
        bytesPerMinute);
  }
}
