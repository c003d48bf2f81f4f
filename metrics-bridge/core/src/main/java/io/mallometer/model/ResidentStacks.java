package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * The resident set by the code that asked for it: stacks whose bytes add up to the resident set
 * size. The outermost frame of each is the kind of memory in brackets, such as {@code [java_heap]}.
 *
 * @param time when it was read
 * @param residentBytes the resident set size
 * @param stacks the stacks, most bytes first
 * @param reason why mappings have no call sites, or there is no newer reading; empty if neither
 */
public record ResidentStacks(
    Instant time, long residentBytes, List<ResidentStack> stacks, String reason) {

  /**
   * A stack of resident memory.
   *
   * @param frames innermost first; the outermost is the kind of memory
   */
  public record ResidentStack(List<StackFrame> frames, long bytes) {
    public ResidentStack {
      frames = List.copyOf(frames);
    }
  }

  public ResidentStacks {
    stacks = List.copyOf(stacks);
  }

  /** Returns the stacks of which a frame contains a text; the total stays. Ignores case. */
  public ResidentStacks mentioning(String text) {
    return new ResidentStacks(
        time,
        residentBytes,
        stacks.stream().filter(stack -> CallSite.mentions(text, "", "", stack.frames())).toList(),
        reason);
  }
}
