package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The latest access that a watchpoint saw to an object of a site. */
public record LastUse(
    @Figure("When the object was used; empty if unavailable") Optional<Instant> time,
    @Figure("The thread's name") String thread,
    @Figure("The stack, innermost first") List<StackFrame> frames,
    @Figure("Why nothing is known; empty if something is") String unavailable) {

  public LastUse {
    frames = List.copyOf(frames);
  }

  /** Creates a result without an access. The reason says why none is known. */
  public static LastUse unavailable(String reason) {
    return new LastUse(Optional.empty(), "", List.of(), reason);
  }

  /** Creates the result for an access that was seen. */
  public static LastUse seen(Instant time, String thread, List<StackFrame> frames) {
    return new LastUse(Optional.of(time), thread, frames, "");
  }
}
