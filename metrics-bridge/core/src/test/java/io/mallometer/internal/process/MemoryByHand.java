package io.mallometer.internal.process;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

final class MemoryByHand implements AddressSpace {

  private final Map<Long, Long> words = new HashMap<>();
  private int reads;

  /** Writes the header of an object to which glibc gave a mapping of its own. */
  MemoryByHand object(long address, long bytes) {
    words.put(address, 0L);
    words.put(address + 8, bytes | 2);
    return this;
  }

  MemoryByHand heap(long address, long arena, long before, long used, long writable) {
    return word(address, arena)
        .word(address + 8, before)
        .word(address + 16, used)
        .word(address + 24, writable);
  }

  /** Fills memory with chunks of the main arena. The last chunk takes the rest of the memory. */
  MemoryByHand chunks(long start, long end, long bytes) {
    for (long at = start; at < end; at += bytes) {
      word(at + 8, (at + 2 * bytes > end ? end - at : bytes) | 1);
      if (at + 2 * bytes > end) {
        break;
      }
    }
    return this;
  }

  MemoryByHand word(long address, long word) {
    words.put(address, word);
    return this;
  }

  int reads() {
    return reads;
  }

  @Override
  public OptionalLong word(long address) {
    reads++;
    Long word = words.get(address);
    return word == null ? OptionalLong.of(0) : OptionalLong.of(word);
  }

  @Override
  public Optional<long[]> words(long page) {
    long[] found = new long[(int) PAGE / Long.BYTES];
    for (int i = 0; i < found.length; i++) {
      found[i] = words.getOrDefault(page + i * Long.BYTES, 0L);
    }
    return Optional.of(found);
  }

  @Override
  public Optional<BitSet> residentPages(long start, long end) {
    BitSet all = new BitSet();
    all.set(0, (int) ((end - start) / PAGE));
    return Optional.of(all);
  }
}
