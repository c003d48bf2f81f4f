package io.mallometer.internal.library.abi;

import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Requests that the library observe accesses to objects, and withdraws the request. Repeats a
 * request at most once a minute if the library could not start a thread or did not record call
 * sites. Not thread-safe.
 */
final class ObservationStart {

  private static final long PAUSE_NANOS = 60_000_000_000L;

  /** The result before a request; no error number has this value. */
  private static final int NOT_ASKED = 1;

  private final IntSupplier start;
  private final IntSupplier stop;
  private final LongSupplier nanoTime;
  private int result = NOT_ASKED;
  private long asked;

  ObservationStart(IntSupplier start, IntSupplier stop, LongSupplier nanoTime) {
    this.start = start;
    this.stop = stop;
    this.nanoTime = nanoTime;
  }

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

  /**
   * Withdraws this object's request to observe accesses, if it has succeeded. The requests of other
   * class loaders stay.
   */
  void takeBack() {
    if (result == 0) {
      stop.getAsInt();
    }
    result = NOT_ASKED;
  }

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
