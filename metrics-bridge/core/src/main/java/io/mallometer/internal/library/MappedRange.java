package io.mallometer.internal.library;

import io.mallometer.model.StackFrame;
import java.util.List;

/**
 * Addresses that the process mapped while the library recorded call sites.
 *
 * @param start first address
 * @param end address after the last
 * @param frames the stack of the call that reserved the addresses, innermost first; empty if
 *     unknown
 * @param owner whose memory it is
 */
public record MappedRange(long start, long end, List<StackFrame> frames, Owner owner) {

  /** Who mapped a range. */
  public enum Owner {
    /** The JVM, or code in it. */
    PROGRAM,
    ALLOCATOR,
    /** The native library, for its own tables. */
    LIBRARY
  }

  public MappedRange {
    frames = List.copyOf(frames);
  }
}
