package io.mallometer.report;

import io.mallometer.model.CallSite;
import io.mallometer.model.StackFrame;
import java.util.List;

/** Provides stacks with at least one frame, for formats that have no empty stacks. */
final class Stacks {

  private static final List<StackFrame> UNKNOWN = List.of(StackFrame.ofLibrary("[unknown]", "", 0));

  private Stacks() {}

  /** Returns the frames of a site, innermost first; at least one frame. */
  static List<StackFrame> of(CallSite site) {
    return of(site.frames());
  }

  /** Returns the frames, or one unknown frame if there are none. */
  static List<StackFrame> of(List<StackFrame> frames) {
    return frames.isEmpty() ? UNKNOWN : frames;
  }
}
