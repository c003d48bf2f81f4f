package io.mallometer.junit;

import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * Memory that a call site has more of than before.
 *
 * @param frames the stack, innermost first
 * @param bytes how many bytes more
 * @param objects how many objects more
 */
record Kept(List<StackFrame> frames, double bytes, double objects) {

  static double bytes(List<Kept> all) {
    return all.stream().mapToDouble(Kept::bytes).sum();
  }
}
