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
   * A stored request.
   *
   * @param allocation the request; a gap between the numbers of two requests means that some were
   *     missed
   * @param stack its native stack, innermost frame first, up to the first frame of compiled Java
   *     code; empty if unknown
   */
  record Request(HugeAllocation allocation, List<StackFrame> stack) {}

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
      public void close() {}
    };
  }

  /** Returns the reason why no requests are stored; empty if they are. */
  String reason();

  /**
   * Returns the first 64 requests since the last reading, oldest first; none after {@link #close}.
   */
  List<Request> read();

  void close();
}
