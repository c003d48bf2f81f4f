package io.mallometer.internal.library;

import io.mallometer.model.CodeOwner;
import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * A range of addresses that the process mapped while the library recorded call sites.
 *
 * @param end the address after the last
 * @param frames the stack of the call that reserved the addresses, innermost first; empty if
 *     unknown
 * @param name the name of the call site
 */
public record MappedRange(long start, long end, List<StackFrame> frames, String name, Owner owner) {

  private static final String LIBRARY_OF_JVM = "libjvm.";

  public enum Owner {
    /** The program: the JVM, or code that the JVM runs. */
    PROGRAM,
    ALLOCATOR,
    /** Mallometer's native library, which mapped the range for its own use. */
    LIBRARY
  }

  public MappedRange {
    frames = List.copyOf(frames);
  }

  public boolean isOfJvm() {
    return !frames.isEmpty() && frames.get(0).owner().startsWith(LIBRARY_OF_JVM);
  }

  public boolean isOfApplication() {
    return owner == Owner.PROGRAM
        && !frames.isEmpty()
        && !isOfJvm()
        && CodeOwner.of(name, frames) == CodeOwner.APPLICATION;
  }
}
