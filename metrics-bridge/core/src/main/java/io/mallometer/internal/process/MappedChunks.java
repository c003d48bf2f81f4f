package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds objects that glibc mapped singly, and what it mapped for its main arena.
 *
 * <p>What was mapped for one begins with a header of two words: 0, and the size, whole pages with
 * the second lowest bit set. The kernel makes one mapping of neighbours, so that such an object
 * and, say, a piece of metaspace beside it look like one. Objects are looked for from a mapping's
 * beginning on, where another object ends, and, in memory that no rule knows, at the beginning of
 * every resident page.
 *
 * <p>The main arena lies below the break ({@code [heap]}). Where that cannot grow, or glibc was
 * told to use huge pages, glibc maps a mebibyte or more for it, which has no header: it begins with
 * a chunk, and each chunk's size leads to the next.
 *
 * <p>The more places are looked at, the more often other memory looks like a header by chance, so
 * the last way believes in sizes below glibc's own threshold of 128 KiB only if two such objects
 * follow each other.
 */
final class MappedChunks {

  /** Chunks that follow each other, after which memory is the main arena's. */
  private static final int FEWEST_IN_CHAIN = 16;

  private static final long PREVIOUS_IN_USE = 1;
  private static final long SMALLEST_CHUNK = 32;

  /** Two of these, which are never free, end what glibc has mapped and left for other memory. */
  private static final long FENCE = 16;

  /** The flags of a size word: arena, mapped, previous in use. */
  private static final long FLAGS = 7;

  private static final long MAPPED = 2;
  private static final long PAGE = AddressSpace.PAGE;

  /** Below it glibc maps nothing singly, unless it was told to (mallopt(3), M_MMAP_THRESHOLD). */
  private static final long GLIBCS_THRESHOLD = 128L << 10;

  /** More than a process can map. */
  private static final long LARGEST = 1L << 47;

  /** Entries of the page table that are read at once, for 64 MiB. */
  private static final long WINDOW = 16_384 * PAGE;

  /**
   * What was searched in vain, and up to which address: a mapping that has the same bounds and the
   * same resident bytes as at the last search holds what it held, and one that is too large for one
   * search is searched in several.
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
   * Looks at most at a number of places, so that a split of very much memory stays cheap; what is
   * beyond is taken for no object this time.
   *
   * @param searched what former searches found out
   */
  MappedChunks(AddressSpace memory, int most, Searched searched) {
    this.memory = memory;
    this.remaining = most;
    this.searched = searched;
  }

  /** Objects that follow each other from the beginning of a mapping on. */
  List<Range> inRow(Mapping mapping) {
    List<Range> found = new ArrayList<>();
    addRow(mapping, found);
    return found;
  }

  /** Adds objects that follow each other from the beginning of a mapping on. */
  void addRow(Mapping mapping, List<Range> to) {
    long at = mapping.start();
    long end = endOfObject(at, mapping);
    while (end > at) {
      to.add(new Range(at, end));
      at = end;
      end = at < mapping.end() ? endOfObject(at, mapping) : at;
    }
  }

  /** What the latest search found that is the main arena's. */
  List<Range> mainArena() {
    return mainArena;
  }

  /**
   * Objects at the beginning of any resident page. Finds {@link #mainArena()} in the same memory.
   */
  List<Range> within(List<Mapping> mappings) {
    List<Range> found = new ArrayList<>();
    // Small ones first: what is too large to be searched whole shall not keep others from it.
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

  /** Returns where to go on. */
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

  /** A small object is one only beside another. */
  private boolean isBelievable(long start, long end, Mapping mapping, List<Range> found) {
    return end - start >= GLIBCS_THRESHOLD
        || end > start
            && (!found.isEmpty() && found.get(found.size() - 1).end() == start
                || end < mapping.end() && endOfObject(end, mapping) > end);
  }

  /** Where an object in a mapping ends; at its own address if there is none. */
  private long endOfObject(long header, Mapping mapping) {
    return endOfObject(header, sizeWord(header), mapping);
  }

  /** The second word of a header; 0 behind the last place that may be looked at. */
  private long sizeWord(long header) {
    return remaining-- > 0 ? memory.word(header + Long.BYTES).orElse(0) : 0;
  }

  private long endOfObject(long header, long word, Mapping mapping) {
    if ((word & FLAGS) != MAPPED || memory.word(header).orElse(-1) != 0) {
      return header;
    }
    long size = word & ~FLAGS;
    boolean sound = size > 0 && size % PAGE == 0 && size <= LARGEST;
    return sound && header + size <= mapping.end() ? header + size : header;
  }

  /**
   * Where the main arena's memory ends that begins at a page; that page if it does not. Chunks are
   * allocated and freed meanwhile: a long chain that breaks, or is too long to be followed, counts
   * to the mapping's end.
   */
  private long endOfMainArena(long begin, Mapping mapping) {
    long end = new Chain(begin, mapping.end()).end();
    if (end > begin) {
      mainArena.add(new Range(begin, end));
    }
    return end;
  }

  /** Chunks of the main arena, one after the other. */
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

    /** Where it ends; where it begins if it is none. The first chunk has no size before it. */
    long end() {
      while (at < limit && (at > begin || word(at) == 0) && step()) {
        length++;
      }
      boolean ends = at % PAGE == 0;
      return length < FEWEST_IN_CHAIN ? begin : ends ? at : limit;
    }

    /** Moves on to the next chunk. Returns false if there is none. */
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

    /** Not behind the last place that may be looked at: then it is no chunk. */
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
