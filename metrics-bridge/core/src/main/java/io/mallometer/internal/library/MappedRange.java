package io.mallometer.internal.library;

import io.mallometer.model.CodeOwner;
import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * A range of addresses that the process mapped while the library recorded call sites.
 *
 * @param start first address
 * @param end address after the last
 * @param frames the stack of the call that reserved the addresses, innermost first; empty if
 *     unknown
 * @param name the name of the call site
 * @param owner the part of the process that mapped the addresses
 */
public record MappedRange(long start, long end, List<StackFrame> frames, String name, Owner owner) {

  private static final String LIBRARY_OF_JVM = "libjvm.";

  /** The part of the process that mapped a range. */
  public enum Owner {
    /** The program: the JVM, or code that the JVM runs. */
    PROGRAM,
    ALLOCATOR,
    /** The native library, for its own tables. */
    LIBRARY
  }

  public MappedRange {
    frames = List.copyOf(frames);
  }

  /** Returns whether the JVM's own code reserved the addresses. */
  public boolean isOfJvm() {
    return !frames.isEmpty() && frames.get(0).owner().startsWith(LIBRARY_OF_JVM);
  }

  /** Returns whether code of the program or its libraries, and not the JVM, reserved the range. */
  public boolean isOfApplication() {
    return owner == Owner.PROGRAM
        && !frames.isEmpty()
        && !isOfJvm()
        && CodeOwner.of(name, frames) == CodeOwner.APPLICATION;
  }
}
