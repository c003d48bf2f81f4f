package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * The resident set, divided among the stacks of the code that requested the memory. The outermost
 * frame of each stack is the kind of memory in brackets, such as {@code [java_heap]}.
 *
 * @param time the time of the reading
 * @param residentBytes the resident set size
 * @param stacks the stacks, most bytes first
 * @param reason the reason why call sites are missing or the reading is old; empty if nothing is
 *     missing
 */
public record ResidentStacks(
    Instant time, long residentBytes, List<ResidentStack> stacks, String reason) {

  /**
   * A stack of resident memory.
   *
   * @param frames the frames, innermost first; the outermost frame is the kind of memory
   */
  public record ResidentStack(List<StackFrame> frames, long bytes) {
    public ResidentStack {
      frames = List.copyOf(frames);
    }
  }

  public ResidentStacks {
    stacks = List.copyOf(stacks);
  }

  /**
   * Returns the stacks with a frame that contains the text, ignoring case. {@link #residentBytes}
   * remains the resident set size of the whole process.
   */
  public ResidentStacks mentioning(String text) {
    return new ResidentStacks(
        time,
        residentBytes,
        stacks.stream().filter(stack -> CallSite.mentions(text, "", "", stack.frames())).toList(),
        reason);
  }
}
