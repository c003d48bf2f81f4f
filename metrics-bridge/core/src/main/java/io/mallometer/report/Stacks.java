package io.mallometer.report;

import io.mallometer.model.CallSite;
import io.mallometer.model.StackFrame;
import java.util.List;

/** Replaces empty stacks by one unknown frame, for formats without empty stacks. */
final class Stacks {

  private static final List<StackFrame> UNKNOWN = List.of(StackFrame.ofLibrary("[unknown]", "", 0));

  private Stacks() {}

  static List<StackFrame> of(CallSite site) {
    return of(site.frames());
  }

  static List<StackFrame> of(List<StackFrame> frames) {
    return frames.isEmpty() ? UNKNOWN : frames;
  }
}
