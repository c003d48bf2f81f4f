package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.List;

/**
 * The mappings of a process, cut where memory of another kind begins. A mapping may contain memory
 * of several kinds, because the kernel joins similar neighbours.
 *
 * <p>The resident bytes of a mapping are divided at a cut: those of the smaller side are read from
 * the page table. If the page table cannot be read, all of the smaller side counts as resident.
 */
final class Pieces {

  private final AddressSpace memory;
  private List<Mapping> all;

  Pieces(AddressSpace memory, List<Mapping> mappings) {
    this.memory = memory;
    this.all = mappings;
  }

  List<Mapping> all() {
    return all;
  }

  void cut(List<Range> ranges) {
    divide(ranges, "");
  }

  void cutOut(List<Range> ranges, String name) {
    divide(ranges, name);
  }

  private void divide(List<Range> ranges, String name) {
    if (ranges.isEmpty()) {
      return;
    }
    List<Mapping> rest = new ArrayList<>(all);
    List<Mapping> divided = new ArrayList<>(rest.size() + 2 * ranges.size());
    int next = 0;
    for (Range range : Range.withoutOverlaps(ranges)) {
      int reached = firstAbove(range.start(), rest, next);
      divided.addAll(rest.subList(next, reached));
      next = divide(rest, reached, range, name, divided);
    }
    divided.addAll(rest.subList(next, rest.size()));
    all = divided;
  }

  /**
   * Returns the index of the first mapping, at {@code from} or later, that ends above an address.
   */
  static int firstAbove(long address, List<Mapping> ascending, int from) {
    int low = from;
    int high = ascending.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ascending.get(middle).end() <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Appends to {@code to} the pieces of the mappings that lie in a range. Returns the index of the
   * first mapping that has memory above the range.
   */
  private int divide(List<Mapping> rest, int from, Range range, String name, List<Mapping> to) {
    int next = from;
    for (; next < rest.size() && rest.get(next).start() < range.end(); next++) {
      Mapping mapping = rest.get(next);
      if (range.start() > mapping.start()) {
        mapping = cutOff(mapping, range.start(), "", to);
      }
      if (range.end() < mapping.end()) {
        rest.set(next, cutOff(mapping, range.end(), name, to));
        return next;
      }
      to.add(named(mapping, name));
    }
    return next;
  }

  private Mapping cutOff(Mapping mapping, long at, String nameBelow, List<Mapping> to) {
    long below = at - mapping.start();
    long above = mapping.end() - at;
    long resident = mapping.residentBytes();
    long residentBelow =
        below <= above
            ? resident(mapping.start(), at, resident, above)
            : resident - resident(at, mapping.end(), resident, below);
    to.add(named(mapping.part(mapping.start(), at, residentBelow, mapping.name()), nameBelow));
    return mapping.part(at, mapping.end(), resident - residentBelow, mapping.name());
  }

  /**
   * Returns the resident bytes of a mapping between two addresses. Reads the page table only if the
   * result is uncertain without it.
   *
   * @param beside the size of the rest of the mapping
   */
  private long resident(long start, long end, long ofMapping, long beside) {
    long least = Math.max(0, ofMapping - beside);
    long most = Math.min(ofMapping, end - start);
    if (least >= most) {
      return most;
    }
    long present =
        memory
            .residentPages(start, end)
            .map(pages -> pages.cardinality() * AddressSpace.PAGE)
            .orElse(most);
    return Math.max(least, Math.min(present, most));
  }

  private static Mapping named(Mapping mapping, String name) {
    return name.isEmpty()
        ? mapping
        : mapping.part(mapping.start(), mapping.end(), mapping.residentBytes(), name);
  }
}
