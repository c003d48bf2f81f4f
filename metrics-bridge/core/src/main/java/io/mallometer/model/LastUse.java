package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The last access to an object of a site that a watchpoint saw.
 *
 * @param time when; empty if unavailable
 * @param thread the thread's name
 * @param frames the stack, innermost first
 * @param unavailable why nothing is known; empty if something is
 */
public record LastUse(
    Optional<Instant> time, String thread, List<StackFrame> frames, String unavailable) {

  public LastUse {
    frames = List.copyOf(frames);
  }

  /** Creates an empty result with the reason why nothing is known. */
  public static LastUse unavailable(String reason) {
    return new LastUse(Optional.empty(), "", List.of(), reason);
  }

  /** A use that was seen. */
  public static LastUse seen(Instant time, String thread, List<StackFrame> frames) {
    return new LastUse(Optional.of(time), thread, frames, "");
  }
}
