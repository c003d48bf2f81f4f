package io.mallometer.process;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Where class metadata lies, recognised by the shape of its reservations: they start at a multiple
 * of 16 MiB, the largest chunk, their first granule is always committed, they are as large as the
 * class space or 64 MiB, and they hold nothing but committed granules of 64 KiB and uncommitted
 * rest.
 *
 * @param classSpace the compressed class space
 * @param metaspace everything else
 */
record MetaspaceRanges(List<Range> classSpace, List<Range> metaspace) {

  private static final long ALIGNMENT = 16L << 20;
  private static final long NODE = 64L << 20;
  private static final long GRANULE = 64L << 10;

  /** 64 GiB of metadata; more is no metaspace. */
  private static final int MOST_NODES = 1_024;

  /**
   * Searches all mappings.
   *
   * @param classSpaceBytes size of the class space; empty without one
   */
  static MetaspaceRanges find(List<Mapping> mappings, OptionalLong classSpaceBytes) {
    List<Range> classSpace = new ArrayList<>();
    List<Range> metaspace = new ArrayList<>();
    long next = 0;
    for (int i = 0; i < mappings.size(); i++) {
      Mapping first = mappings.get(i);
      long start = first.start() < next ? next : first.start();
      // A node that is committed to its end may have grown together with the next one.
      while (start < first.end()
          && start % ALIGNMENT == 0
          && committed(first)
          && metaspace.size() < MOST_NODES) {
        long classes = classSpaceBytes.orElse(0);
        if (classSpace.isEmpty() && classes > 0 && spans(mappings, i, start + classes)) {
          next = start + classes;
          classSpace.add(new Range(start, next));
        } else if (spans(mappings, i, start + NODE)) {
          next = start + NODE;
          metaspace.add(new Range(start, next));
        } else {
          break;
        }
        start = next;
      }
    }
    return new MetaspaceRanges(classSpace, metaspace);
  }

  /** Whether the mappings from an index on have the shape, without a gap, up to an address. */
  private static boolean spans(List<Mapping> mappings, int index, long end) {
    Mapping last = mappings.get(index);
    for (int i = index + 1; last.end() < end; i++) {
      if (i == mappings.size() || !mappings.get(i).startsAtEndOf(last)) {
        return false;
      }
      last = mappings.get(i);
      if (!committed(last) && !uncommitted(last)) {
        return false;
      }
    }
    return true;
  }

  private static boolean committed(Mapping mapping) {
    return mapping.anonymous()
        && mapping.writable()
        && !mapping.noReserve()
        && mapping.start() % GRANULE == 0;
  }

  private static boolean uncommitted(Mapping mapping) {
    return mapping.anonymous() && mapping.inaccessible() && mapping.noReserve();
  }
}
