package io.mallometer.internal.library.abi;

import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Requests that the library observe accesses to objects, and withdraws the request. If the library
 * could not start a thread (a container limits its processes) or did not record call sites, the
 * request is repeated at most once a minute. Not thread-safe.
 */
final class ObservationStart {

  private static final long PAUSE_NANOS = 60_000_000_000L;

  /** The value of the result before a request. It is no error number. */
  private static final int NOT_ASKED = 1;

  private final IntSupplier start;
  private final IntSupplier stop;
  private final LongSupplier nanoTime;
  private int result = NOT_ASKED;
  private long asked;

  /**
   * Creates an object that has requested nothing.
   *
   * @param start {@code mallometer_leaks_start}
   * @param stop {@code mallometer_leaks_stop}
   * @param nanoTime {@link System#nanoTime()}
   */
  ObservationStart(IntSupplier start, IntSupplier stop, LongSupplier nanoTime) {
    this.start = start;
    this.stop = stop;
    this.nanoTime = nanoTime;
  }

  /** Requests that the library observe accesses to objects. A second call does nothing. */
  void ask() {
    if (result == NOT_ASKED) {
      attempt();
    }
  }

  void askAgainIfDue() {
    if ((result == Errno.EAGAIN || result == Errno.ENODATA)
        && nanoTime.getAsLong() - asked >= PAUSE_NANOS) {
      attempt();
    }
  }

  private void attempt() {
    asked = nanoTime.getAsLong();
    result = start.getAsInt();
  }

  /** Withdraws the request. The request of another class loader that uses mallometer stays. */
  void takeBack() {
    if (result == 0) {
      stop.getAsInt();
    }
    result = NOT_ASKED;
  }

  /** Returns why nothing is observed; empty if the request succeeded. */
  String refusal() {
    return switch (result) {
      case 0 -> "";
      case NOT_ASKED -> "nothing is observed: no reader asked for it";
      case Errno.ENODATA ->
          "nothing is observed: call sites are not recorded, or MALLOMETER_LEAKS is off";
      case Errno.EAGAIN ->
          "nothing is observed: no thread can be started; mallometer tries again once a minute";
      default -> "nothing is observed: errno " + -result;
    };
  }
}
