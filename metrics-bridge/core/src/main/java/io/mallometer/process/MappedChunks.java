package io.mallometer.process;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Tells objects that glibc mapped singly from other anonymous memory.
 *
 * <p>Each has a header of two words: what precedes it, 0, and its size, whole pages with the second
 * lowest bit set. The kernel makes one mapping of neighbours, so that such an object and, say, a
 * piece of metaspace above it look like one; objects follow each other from the mapping's start,
 * and what is behind the last is cut off.
 */
final class MappedChunks {

  /** What the kernel would show if glibc named these mappings. */
  static final String NAME = "[anon: singly mapped by malloc]";

  /** The flags of a size word: arena, mapped, previous in use. */
  private static final long FLAGS = 7;

  private static final long MAPPED = 2;
  private static final long PAGE = 4096;

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
      long objects = candidate(mapping) ? bytes(mapping) : 0;
      if (objects == 0) {
        separated.add(mapping);
      } else if (objects == mapping.bytes()) {
        separated.add(mapping.part(mapping.start(), mapping.end(), mapping.residentBytes(), NAME));
      } else {
        cut(mapping, mapping.start() + objects, NAME, separated);
      }
    }
    return separated;
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

  private long bytes(Mapping mapping) {
    long at = mapping.start();
    while (at < mapping.end() && remaining > 0) {
      remaining--;
      long size = size(at);
      if (size <= 0 || size > mapping.end() - at) {
        break;
      }
      at += size;
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
