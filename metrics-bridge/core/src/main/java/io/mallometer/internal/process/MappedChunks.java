package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds malloc's objects that have a mapping of their own, and the memory that glibc mapped for its
 * main arena outside of {@code [heap]}.
 *
 * <p>An object with a mapping begins with a header of two words: 0, and the size of its pages with
 * the second lowest bit set. The kernel joins neighbouring mappings, so a header may be at the
 * beginning of a mapping or behind another object.
 *
 * <p>In memory of unknown kind, a header may be on any resident page, and other data may look like
 * a header. An object found there must have at least 128 KiB, glibc's threshold for a mapping, or
 * lie next to another object.
 *
 * <p>If {@code [heap]} cannot grow, or if glibc uses huge pages, glibc maps 1 MiB or more for the
 * main arena. This memory begins with a chunk, and the size of each chunk leads to the next.
 */
final class MappedChunks {

  /** The fewest consecutive chunks that identify memory of the main arena. */
  private static final int FEWEST_IN_CHAIN = 16;

  private static final long PREVIOUS_IN_USE = 1;
  private static final long SMALLEST_CHUNK = 32;

  /**
   * The size of a fence chunk. Two fence chunks, which are never free, mark the end of memory that
   * glibc no longer extends.
   */
  private static final long FENCE = 16;

  /**
   * The flag bits of a size word: the chunk is not in the main arena, it has a mapping of its own,
   * and the previous chunk is in use.
   */
  private static final long FLAGS = 7;

  private static final long MAPPED = 2;

  /** The bytes of a header. Since glibc 2.43 the size does not include them. */
  private static final long HEADER = 2 * Long.BYTES;

  private static final long PAGE = AddressSpace.PAGE;

  /**
   * The smallest size to which glibc gives a mapping of its own, unless mallopt(3) sets a smaller
   * M_MMAP_THRESHOLD.
   */
  private static final long GLIBCS_THRESHOLD = 128L << 10;

  /** A size that no process can map. */
  private static final long LARGEST = 1L << 47;

  /** The bytes whose page table entries are read in one call: 64 MiB. */
  private static final long WINDOW = 16_384 * PAGE;

  /**
   * The mappings in which no object was found, with the address up to which each was searched. A
   * mapping is searched again only if its bounds or resident bytes change. A large mapping is
   * searched in several parts.
   */
  static final class Searched {
    private Map<Mapping, Long> before = new HashMap<>();
    private Map<Mapping, Long> now = new HashMap<>();

    private long upTo(Mapping mapping) {
      return before.getOrDefault(mapping, mapping.start());
    }

    private void remember(Mapping mapping, long address) {
      now.put(mapping, address);
    }

    private void forgetWhatIsGone() {
      before = now;
      now = new HashMap<>();
    }
  }

  private final AddressSpace memory;
  private final Searched searched;
  private final List<Range> mainArena = new ArrayList<>();
  private int remaining;

  /**
   * Creates a search that reads a limited number of addresses, so that it stays cheap for a very
   * large resident set.
   *
   * @param most the largest number of addresses to read
   * @param searched the mappings in which earlier searches found no object
   */
  MappedChunks(AddressSpace memory, int most, Searched searched) {
    this.memory = memory;
    this.remaining = most;
    this.searched = searched;
  }

  void addRow(Mapping mapping, List<Range> to) {
    long at = mapping.start();
    long end = endOfObject(at, mapping);
    while (end > at) {
      to.add(new Range(at, end));
      at = end;
      end = at < mapping.end() ? endOfObject(at, mapping) : at;
    }
  }

  List<Range> mainArena() {
    return mainArena;
  }

  /**
   * Returns the objects that begin at a resident page of the mappings. The search also finds {@link
   * #mainArena()}.
   */
  List<Range> within(List<Mapping> mappings) {
    List<Range> found = new ArrayList<>();
    // Small mappings come first. The search reads a limited number of addresses, and one large
    // mapping could use up this number.
    List<Mapping> smallFirst = new ArrayList<>(mappings);
    smallFirst.removeIf(mapping -> mapping.bytes() < GLIBCS_THRESHOLD);
    smallFirst.sort(Comparator.comparingLong(Mapping::residentBytes));
    for (Mapping mapping : smallFirst) {
      search(mapping, found);
    }
    searched.forgetWhatIsGone();
    return found;
  }

  private void search(Mapping mapping, List<Range> found) {
    int before = found.size() + mainArena.size();
    long at = searched.upTo(mapping);
    while (at < mapping.end() && remaining > 0) {
      at = searchWindow(mapping, at, found);
    }
    if (found.size() + mainArena.size() == before) {
      searched.remember(mapping, at);
    }
  }

  /** Searches a part of a mapping. Returns the address at which the search continues. */
  private long searchWindow(Mapping mapping, long start, List<Range> found) {
    long end = Math.min(mapping.end(), start + WINDOW);
    BitSet resident = memory.residentPages(start, end).orElse(new BitSet());
    long next = start;
    for (int page = resident.nextSetBit(0); page >= 0; page = resident.nextSetBit(page + 1)) {
      long address = start + page * PAGE;
      if (remaining <= 0) {
        return address;
      }
      if (address >= next) {
        long word = sizeWord(address);
        if ((word & FLAGS) == PREVIOUS_IN_USE && word > 0 && word < mapping.end() - address) {
          next = endOfMainArena(address, mapping);
        } else {
          next = endOfObject(address, word, mapping);
          if (isBelievable(address, next, mapping, found)) {
            found.add(new Range(address, next));
          }
        }
      }
    }
    return Math.max(end, next);
  }

  /**
   * Returns whether an object that was found is large, or lies next to another object. Other memory
   * can look like a small object by chance.
   */
  private boolean isBelievable(long start, long end, Mapping mapping, List<Range> found) {
    return end - start >= GLIBCS_THRESHOLD
        || end > start
            && (!found.isEmpty() && found.get(found.size() - 1).end() == start
                || end < mapping.end() && endOfObject(end, mapping) > end);
  }

  /** Returns the end of the object at an address; the address itself if there is none. */
  private long endOfObject(long header, Mapping mapping) {
    return endOfObject(header, sizeWord(header), mapping);
  }

  /** Returns the second word of a header; 0 if the search may read no more addresses. */
  private long sizeWord(long header) {
    return remaining-- > 0 ? memory.word(header + Long.BYTES).orElse(0) : 0;
  }

  private long endOfObject(long header, long word, Mapping mapping) {
    if ((word & FLAGS) != MAPPED || memory.word(header).orElse(-1) != 0) {
      return header;
    }
    long size = word & ~FLAGS;
    if (size % PAGE == PAGE - HEADER) {
      size += HEADER;
    }
    boolean sound = size > 0 && size % PAGE == 0 && size <= LARGEST;
    return sound && header + size <= mapping.end() ? header + size : header;
  }

  /**
   * Returns the end of the main arena's memory that begins at {@code begin}; {@code begin} itself
   * if there is none.
   */
  private long endOfMainArena(long begin, Mapping mapping) {
    long end = new Chain(begin, mapping.end()).end();
    if (end > begin) {
      mainArena.add(new Range(begin, end));
    }
    return end;
  }

  private final class Chain {

    private final long begin;
    private final long limit;
    private long at;
    private int length;
    private long page = -1;
    private long[] words = {};

    Chain(long begin, long limit) {
      this.begin = begin;
      this.limit = limit;
      this.at = begin;
    }

    /**
     * Returns the end of the main arena's memory: the end of the last chunk if it is at a page
     * boundary, otherwise the end of the mapping. Returns the beginning if there are too few
     * chunks.
     */
    long end() {
      while (at < limit && (at > begin || word(at) == 0) && step()) {
        length++;
      }
      boolean ends = at % PAGE == 0;
      return length < FEWEST_IN_CHAIN ? begin : ends ? at : limit;
    }

    private boolean step() {
      long word = word(at + Long.BYTES);
      long bytes = word & ~FLAGS;
      if (word == (FENCE | PREVIOUS_IN_USE) && word(at + FENCE + Long.BYTES) == word) {
        bytes = 2 * FENCE;
      } else if ((word & FLAGS & ~PREVIOUS_IN_USE) != 0 || bytes < SMALLEST_CHUNK) {
        return false;
      }
      if (bytes % 16 != 0 || bytes > limit - at) {
        return false;
      }
      at += bytes;
      return true;
    }

    /**
     * Returns the word at an address; -1, which is no valid size, if it cannot be read or the limit
     * of readings is reached.
     */
    private long word(long address) {
      long wanted = address & -PAGE;
      if (wanted != page) {
        words = remaining-- > 0 ? memory.words(wanted).orElse(new long[0]) : new long[0];
        page = wanted;
      }
      int index = (int) (address - wanted) / Long.BYTES;
      return index < words.length ? words[index] : -1;
    }
  }
}
