package io.mallometer.internal.symbol;

import io.mallometer.model.StackFrame;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Maps recorded frames to named frames, in an open-addressing table without an object for each
 * entry.
 */
final class FrameTable {

  private static final int LEAST_SLOTS = 1_024;

  private long[] recorded = new long[LEAST_SLOTS];
  private @Nullable StackFrame[] named = new StackFrame[LEAST_SLOTS];
  private int count;

  int count() {
    return count;
  }

  @Nullable StackFrame get(long frame) {
    return named[slot(frame)];
  }

  void put(long frame, StackFrame name) {
    int slot = slot(frame);
    if (named[slot] == null) {
      if (2 * count >= named.length) {
        grow();
        slot = slot(frame);
      }
      count++;
    }
    recorded[slot] = frame;
    named[slot] = name;
  }

  /** Returns the frames of a stack, all of which must be in the table. */
  List<StackFrame> frames(long[] stack) {
    StackFrame[] frames = new StackFrame[stack.length];
    for (int i = 0; i < stack.length; i++) {
      frames[i] = named[slot(stack[i])];
    }
    return List.of(frames);
  }

  private int slot(long frame) {
    int mask = recorded.length - 1;
    int slot = (int) (frame * 0x9e3779b97f4a7c15L >>> 40) & mask;
    while (named[slot] != null && recorded[slot] != frame) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldRecorded = recorded;
    @Nullable StackFrame[] oldNamed = named;
    recorded = new long[2 * oldRecorded.length];
    named = new StackFrame[2 * oldNamed.length];
    for (int i = 0; i < oldNamed.length; i++) {
      if (oldNamed[i] != null) {
        int slot = slot(oldRecorded[i]);
        recorded[slot] = oldRecorded[i];
        named[slot] = oldNamed[i];
      }
    }
  }
}
