package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds the heaps of glibc's arenas other than the main arena.
 *
 * <p>The address of a heap is a multiple of its largest size: 64 MiB, or four huge pages with
 * {@code glibc.malloc.hugetlb=2}. A heap begins with glibc's {@code heap_info}: the address of its
 * arena, the address of the arena's previous heap, the size of the heap in bytes, and the bytes
 * that were ever made writable. The arena lies directly behind the {@code heap_info} of its first
 * heap.
 *
 * <p>If memory cannot be read, only heaps of glibc 2.40 and older are recognised: 64 MiB at a
 * multiple of 64 MiB, mapped with {@code MAP_NORESERVE}.
 */
final class ArenaHeaps {

  private static final long LARGEST = 64L << 20;

  /**
   * Within a mapping, heaps are looked for at addresses that are multiples of this number: the
   * bytes of four huge pages of 2 MiB. Heaps of 64 MiB and of 4 GiB begin at such addresses, too.
   */
  private static final long STEP = 8L << 20;

  /** The bytes of four huge pages of 64 KiB, which some processors have. */
  private static final long SMALLEST = 256L << 10;

  /** The bytes of four huge pages of 1 GiB. */
  private static final long LARGEST_OF_ALL = 4L << 30;

  /**
   * An arena begins four to eight words behind the beginning of its first heap: six words since
   * glibc 2.35.
   */
  private static final long FEWEST_WORDS = 4 * Long.BYTES;

  private static final long MOST_WORDS = 8 * Long.BYTES;

  /**
   * The largest number of addresses at which one search looks for a heap; each takes two
   * microseconds.
   */
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
   * Returns the heaps, with the addresses into which they may grow.
   *
   * @param mappings anonymous mappings that no other rule has identified, in ascending order
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

  /** Returns the end of the heap that begins at an address; the address itself if there is none. */
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
   * Returns the end of a heap, including the inaccessible addresses behind its writable part. The
   * heap may have grown since the mappings were read.
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
