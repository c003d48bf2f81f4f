package io.mallometer.internal.process;

import java.io.IOException;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads the memory of this process by address. */
interface AddressSpace extends AutoCloseable {

  long PAGE = 4096;

  /** Returns the word of eight bytes at an address; empty if it cannot be read. */
  OptionalLong word(long address);

  default Optional<long[]> words(long page) {
    return Optional.empty();
  }

  /**
   * Returns the resident pages between two page addresses; bit 0 is the page at {@code start}.
   * Empty if unknown.
   */
  Optional<BitSet> residentPages(long start, long end);

  @Override
  default void close() {}

  /**
   * Returns the address space of this process, or an unreadable one if reading memory is forbidden.
   */
  static AddressSpace ofThisProcess() {
    try {
      return new OwnMemory();
    } catch (IOException | SecurityException e) {
      return unreadable();
    }
  }

  static AddressSpace unreadable() {
    return new AddressSpace() {
      @Override
      public OptionalLong word(long address) {
        return OptionalLong.empty();
      }

      @Override
      public Optional<BitSet> residentPages(long start, long end) {
        return Optional.empty();
      }
    };
  }
}
