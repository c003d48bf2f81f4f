package io.mallometer.internal.library;

import io.mallometer.model.HugeAllocation;
import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * A watch for large requests of memory: while it is open, the library stores the requests above a
 * size. Thread-safe; no method throws.
 */
public interface RequestWatch {

  /**
   * A request that was stored.
   *
   * @param allocation the request; its number counts from 1, and a gap between numbers means missed
   *     requests
   * @param stack its native stack, innermost frame first, up to the first frame of compiled Java
   *     code; empty if it is unknown
   */
  record Request(HugeAllocation allocation, List<StackFrame> stack) {}

  /** Returns a watch that stores no requests, with the reason. */
  static RequestWatch none(String reason) {
    return new RequestWatch() {
      @Override
      public String reason() {
        return reason;
      }

      @Override
      public List<Request> read() {
        return List.of();
      }

      @Override
      public void close() {
        // Does nothing, because nothing is open.
      }
    };
  }

  /** Returns the reason why no requests are stored; empty if they are. */
  String reason();

  /** Returns the first 64 requests since the last reading, oldest first; none once closed. */
  List<Request> read();

  /** Ends the watch. A second call does nothing. */
  void close();
}
