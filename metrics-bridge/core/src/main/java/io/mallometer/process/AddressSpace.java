package io.mallometer.process;

import java.util.OptionalLong;

/** What can be looked up in this process' memory by address. */
interface AddressSpace {

  /** The word of eight bytes at an address; empty if it cannot be read. */
  OptionalLong word(long address);

  /** Resident bytes between two addresses at page boundaries; empty if unknown. */
  OptionalLong residentBytes(long start, long end);

  /** Tells nothing. */
  static AddressSpace unreadable() {
    return new AddressSpace() {
      @Override
      public OptionalLong word(long address) {
        return OptionalLong.empty();
      }

      @Override
      public OptionalLong residentBytes(long start, long end) {
        return OptionalLong.empty();
      }
    };
  }
}
