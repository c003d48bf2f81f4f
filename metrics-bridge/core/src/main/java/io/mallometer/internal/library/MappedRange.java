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
 * @param ofAllocator whether the allocator reserved them
 */
public record MappedRange(long start, long end, List<StackFrame> frames, boolean ofAllocator) {

  public MappedRange {
    frames = List.copyOf(frames);
  }
}
