package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds the heaps of glibc's arenas, the main one excepted.
 *
 * <p>A heap begins at a multiple of the most that it may grow to: 64 MiB, or four huge pages where
 * glibc was told to use these ({@code glibc.malloc.hugetlb=2}). Its first words are the address of
 * its arena, which lies right behind the words of its first heap, the heap before, how many bytes
 * the heap has, and how many of its addresses were ever made writable (glibc's {@code heap_info}).
 * Neighbours are one mapping, and pages of one heap may differ in the kernel's eyes, so that
 * neither the bounds nor the flags of mappings tell of heaps on every version of glibc.
 *
 * <p>Where memory cannot be read, a heap is what glibc 2.40 and older make: 64 MiB that begin at a
 * multiple of that, and of which the kernel has promised no part.
 */
final class ArenaHeaps {

  private static final long LARGEST = 64L << 20;

  /** Four huge pages of 2 MiB. Larger ones begin at a multiple of that too. */
  private static final long STEP = 8L << 20;

  /** Four huge pages of 64 KiB, which some processors have. */
  private static final long SMALLEST = 256L << 10;

  /** The most that four huge pages of 1 GiB are. */
  private static final long LARGEST_OF_ALL = 4L << 30;

  /** The arena lies behind the four words of its heap, or the six of glibc 2.35 and newer. */
  private static final long FEWEST_WORDS = 4 * Long.BYTES;

  private static final long MOST_WORDS = 8 * Long.BYTES;

  /** Multiples of {@link #STEP} that are looked at, at two microseconds each: 80 GiB. */
  private static final int MOST_PLACES = 10_000;

  private static final long PAGE = AddressSpace.PAGE;

  private final List<Mapping> mappings;
  private final AddressSpace memory;
  private final List<Range> found = new ArrayList<>();
  private int remaining = MOST_PLACES;

  private ArenaHeaps(List<Mapping> mappings, AddressSpace memory) {
    this.mappings = mappings;
    this.memory = memory;
  }

  /**
   * The heaps with the addresses that they may grow to.
   *
   * @param mappings anonymous ones that nothing else is known of, ascending by address
   */
  static List<Range> in(List<Mapping> mappings, AddressSpace memory) {
    ArenaHeaps heaps = new ArenaHeaps(mappings, memory);
    for (int i = 0; i < mappings.size(); i++) {
      heaps.search(i);
    }
    return heaps.found;
  }

  private void search(int index) {
    Mapping mapping = mappings.get(index);
    if (!mapping.writable() || mapping.residentBytes() == 0) {
      return;
    }
    long begin = mapping.start();
    if (begin % SMALLEST != 0) {
      begin = nextStep(begin);
    }
    for (long at = begin; at < mapping.end() && remaining > 0; at = nextStep(at)) {
      long end = endOfHeap(at, index);
      if (end > at) {
        found.add(new Range(at, end));
        at = Math.max(at, end - 1);
      }
    }
  }

  private static long nextStep(long address) {
    return (address / STEP + 1) * STEP;
  }

  /** Where a heap ends that begins at an address; that address if there is none. */
  private long endOfHeap(long begin, int index) {
    remaining--;
    Mapping mapping = mappings.get(index);
    if (memory.word(mapping.start()).isEmpty()) {
      return begin == mapping.start() && begin % LARGEST == 0 ? endOfUnreadable(index) : begin;
    }
    boolean touched =
        mapping.residentBytes() == mapping.bytes()
            || memory.residentPages(begin, begin + PAGE).map(pages -> pages.get(0)).orElse(true);
    if (!touched) {
      return begin;
    }
    long arena = word(begin);
    long before = word(begin + Long.BYTES);
    boolean known = before == 0 ? isBehind(arena, begin) : isHeapOf(arena, before);
    long used = word(begin + 2 * Long.BYTES);
    long writable = word(begin + 3 * Long.BYTES);
    boolean sound = isPages(used) && isPages(writable) && used <= writable;
    return known && sound ? endWithRest(begin, begin + writable, index) : begin;
  }

  private static boolean isPages(long bytes) {
    return bytes > 0 && bytes % PAGE == 0 && bytes <= LARGEST_OF_ALL;
  }

  private static boolean isBehind(long arena, long heap) {
    return arena % 16 == 0 && arena - heap >= FEWEST_WORDS && arena - heap <= MOST_WORDS;
  }

  /** Whether another heap is of the same arena. */
  private boolean isHeapOf(long arena, long heap) {
    return arena % 16 == 0 && heap > 0 && heap % SMALLEST == 0 && word(heap) == arena;
  }

  private long word(long address) {
    return memory.word(address).orElse(-1);
  }

  private boolean isFollowed(int index) {
    return index + 1 < mappings.size()
        && mappings.get(index + 1).startsAtEndOf(mappings.get(index));
  }

  /**
   * The heap's addresses behind its writable ones are in no other's way. It may have grown since
   * the mappings were read.
   */
  private long endWithRest(long begin, long writable, int index) {
    int last = index;
    while (isFollowed(last) && mappings.get(last).writable()) {
      last++;
    }
    Mapping rest = mappings.get(last);
    return rest.inaccessible() && rest.start() <= writable
        ? Math.min(rest.end(), Math.max(writable, begin / LARGEST * LARGEST + LARGEST))
        : writable;
  }

  private long endOfUnreadable(int index) {
    long begin = mappings.get(index).start();
    int last = index;
    while (mappings.get(last).end() - begin < LARGEST
        && isFollowed(last)
        && mappings.get(last).noReserve()) {
      last++;
    }
    Mapping end = mappings.get(last);
    return end.noReserve() && end.end() - begin >= LARGEST ? begin + LARGEST : begin;
  }
}
