package io.mallometer.internal.leak.evidence;

import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * The latest access, or the latest write, that a watchpoint saw at the objects of a call site.
 *
 * @param site the number of the call site
 * @param write true for the latest write, false for the latest access of any kind
 * @param nanos the moment, by {@link System#nanoTime()}
 * @param thread the thread's name
 * @param frames the stack, innermost first
 */
public record WatchedAccess(
    int site, boolean write, long nanos, String thread, List<StackFrame> frames) {

  public WatchedAccess {
    frames = List.copyOf(frames);
  }
}
