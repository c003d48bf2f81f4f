package io.mallometer.internal.process;

import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalLong;

/** What can be looked up in this process' memory by address. */
interface AddressSpace {

  /** Bytes of a page on the systems that this runs on. */
  long PAGE = 4096;

  /** The word of eight bytes at an address; empty if it cannot be read. */
  OptionalLong word(long address);

  /** Returns the words of a page; empty if the page cannot be read. */
  default Optional<long[]> words(long page) {
    return Optional.empty();
  }

  /**
   * Which pages between two addresses at page boundaries are resident, by number from the first;
   * empty if unknown.
   */
  Optional<BitSet> residentPages(long start, long end);

  /** Tells nothing. */
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
