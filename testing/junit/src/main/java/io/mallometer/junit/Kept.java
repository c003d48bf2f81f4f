package io.mallometer.junit;

import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * The increase of a call site's live memory.
 *
 * @param frames the stack, innermost first
 * @param bytes the increase in bytes
 * @param objects the increase in objects
 */
record Kept(List<StackFrame> frames, double bytes, double objects) {

  static double bytes(List<Kept> all) {
    return all.stream().mapToDouble(Kept::bytes).sum();
  }
}
