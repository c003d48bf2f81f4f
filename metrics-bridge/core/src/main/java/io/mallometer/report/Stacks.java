package io.mallometer.report;

import io.mallometer.model.CallSite;
import io.mallometer.model.StackFrame;
import java.util.List;

/** Stacks as formats want them that have no word for an empty one. */
final class Stacks {

  private static final List<StackFrame> UNKNOWN = List.of(StackFrame.ofLibrary("[unknown]", "", 0));

  private Stacks() {}

  /** The frames of a site, innermost first, at least one. */
  static List<StackFrame> of(CallSite site) {
    return of(site.frames());
  }

  /** The same of frames. */
  static List<StackFrame> of(List<StackFrame> frames) {
    return frames.isEmpty() ? UNKNOWN : frames;
  }
}
