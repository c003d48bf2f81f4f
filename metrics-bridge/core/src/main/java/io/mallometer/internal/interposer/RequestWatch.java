package io.mallometer.internal.interposer;

import io.mallometer.model.HugeAllocation;
import io.mallometer.model.StackFrame;
import java.util.List;

/** Requests above a size while it is open. Thread-safe; nothing here throws. */
public interface RequestWatch {

  /**
   * A request that was kept.
   *
   * @param allocation the request; numbers begin with 1, and a gap is what was missed
   * @param stack its native stack, innermost frame first, up to the first frame of compiled Java
   *     code; empty if it is not known
   */
  record Request(HugeAllocation allocation, List<StackFrame> stack) {}

  /** Watches nothing, for a reason. */
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
        // Nothing is open.
      }
    };
  }

  /** Why nothing is watched; empty if requests are. */
  String reason();

  /** The first 64 requests since the last reading, oldest first; none after it is closed. */
  List<Request> read();

  /** Ends it. Does nothing the second time. */
  void close();
}
