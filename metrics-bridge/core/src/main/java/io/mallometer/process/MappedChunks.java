package io.mallometer.process;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Tells objects that glibc mapped singly from other anonymous memory.
 *
 * <p>Each has a header of two words: what precedes it, 0, and its size, whole pages with the second
 * lowest bit set. The kernel makes one mapping of neighbours, so that such an object and, say, a
 * piece of metaspace above it look like one. Objects are looked for in a mapping's first pages, for
 * something small may have been mapped before them, and again behind the last of a row; the pieces
 * are told apart.
 */
final class MappedChunks {

  /** What the kernel would show if glibc named these mappings. */
  static final String NAME = "[anon: singly mapped by malloc]";

  /** The flags of a size word: arena, mapped, previous in use. */
  private static final long FLAGS = 7;

  private static final long MAPPED = 2;
  private static final long PAGE = 4096;

  /** How far into a mapping, or behind an object, the next object is looked for. */
  private static final long LARGEST_GAP = 16 * PAGE;

  private final AddressSpace memory;
  private int remaining;

  /**
   * Looks at most at a number of objects, so that a split of very many mappings stays cheap; what
   * is beyond is taken for no object.
   */
  MappedChunks(AddressSpace memory, int most) {
    this.memory = memory;
    this.remaining = most;
  }

  /** The same mappings, with singly mapped objects cut off and named {@link #NAME}. */
  List<Mapping> separate(List<Mapping> mappings) {
    List<Mapping> separated = new ArrayList<>(mappings.size());
    for (Mapping mapping : mappings) {
      if (candidate(mapping)) {
        separate(mapping, separated);
      } else {
        separated.add(mapping);
      }
    }
    return separated;
  }

  private void separate(Mapping mapping, List<Mapping> to) {
    Mapping rest = mapping;
    for (long gap = gap(rest); gap >= 0; gap = gap(rest)) {
      if (gap > 0) {
        rest = cutOff(rest, gap, rest.name(), to);
      }
      long objects = bytes(rest);
      if (objects == rest.bytes()) {
        to.add(rest.part(rest.start(), rest.end(), rest.residentBytes(), NAME));
        return;
      }
      rest = cutOff(rest, objects, NAME, to);
    }
    to.add(rest);
  }

  /** Adds the first bytes of a mapping and returns the others. */
  private Mapping cutOff(Mapping mapping, long bytes, String name, List<Mapping> to) {
    cut(mapping, mapping.start() + bytes, name, to);
    return to.remove(to.size() - 1);
  }

  /** Bytes before the first object; negative if there is none within {@link #LARGEST_GAP}. */
  private long gap(Mapping mapping) {
    long end = Math.min(mapping.end(), mapping.start() + LARGEST_GAP);
    for (long at = mapping.start(); at < end && remaining > 0; at += PAGE) {
      remaining--;
      long size = size(at);
      if (size > 0 && size <= mapping.end() - at) {
        return at - mapping.start();
      }
    }
    return -1;
  }

  /**
   * Cuts mappings that reach beyond the end of a range.
   *
   * @param ranges ascending, without overlaps
   */
  List<Mapping> cutAtEnds(List<Mapping> mappings, List<Range> ranges) {
    List<Mapping> pieces = new ArrayList<>(mappings.size());
    int next = 0;
    for (Mapping mapping : mappings) {
      Mapping rest = mapping;
      while (next < ranges.size() && ranges.get(next).end() <= rest.start()) {
        next++;
      }
      while (next < ranges.size() && ranges.get(next).end() < rest.end()) {
        cut(rest, ranges.get(next).end(), rest.name(), pieces);
        rest = pieces.remove(pieces.size() - 1);
        next++;
      }
      pieces.add(rest);
    }
    return pieces;
  }

  private void cut(Mapping mapping, long at, String nameBelow, List<Mapping> to) {
    long below =
        Math.min(
            mapping.residentBytes(),
            memory.residentBytes(mapping.start(), at).orElse(at - mapping.start()));
    to.add(mapping.part(mapping.start(), at, below, nameBelow));
    to.add(mapping.part(at, mapping.end(), mapping.residentBytes() - below, mapping.name()));
  }

  private static boolean candidate(Mapping mapping) {
    return mapping.anonymous()
        && mapping.writable()
        && !mapping.noReserve()
        && mapping.residentBytes() > 0;
  }

  /** Bytes of the row of objects with which the mapping begins; it begins with one. */
  private long bytes(Mapping mapping) {
    long at = mapping.start();
    long size = size(at);
    while (size > 0 && size <= mapping.end() - at) {
      at += size;
      remaining--;
      size = at < mapping.end() && remaining > 0 ? size(at) : 0;
    }
    return at - mapping.start();
  }

  private long size(long header) {
    OptionalLong word = memory.word(header + Long.BYTES);
    if ((word.orElse(0) & FLAGS) != MAPPED || memory.word(header).orElse(-1) != 0) {
      return 0;
    }
    long size = word.getAsLong() & ~FLAGS;
    return size % PAGE == 0 ? size : 0;
  }
}
