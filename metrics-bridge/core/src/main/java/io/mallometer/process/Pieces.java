package io.mallometer.process;

import java.util.ArrayList;
import java.util.List;

/**
 * Mappings, cut where something else begins.
 *
 * <p>The kernel makes one mapping of neighbours that are alike, so what it shows may begin or end
 * in the middle of what somebody mapped. Whoever knows where a thing lies cuts it out here.
 * Resident bytes are divided by a look at the page table, at that of the smaller side; where it
 * cannot be read the smaller side is taken for resident. The sum stays what it was.
 */
final class Pieces {

  private final AddressSpace memory;
  private List<Mapping> all;

  Pieces(AddressSpace memory, List<Mapping> mappings) {
    this.memory = memory;
    this.all = mappings;
  }

  /** All pieces, ascending by address. */
  List<Mapping> all() {
    return all;
  }

  /** Cuts at both ends of ranges. */
  void cut(List<Range> ranges) {
    divide(ranges, "");
  }

  /** Cuts ranges out and gives what lies in them a name. */
  void cutOut(List<Range> ranges, String name) {
    divide(ranges, name);
  }

  private void divide(List<Range> ranges, String name) {
    List<Range> ascending = Range.withoutOverlaps(ranges);
    List<Mapping> divided = new ArrayList<>(all.size() + ranges.size());
    int next = 0;
    for (Mapping mapping : all) {
      Mapping rest = mapping;
      while (next < ascending.size() && ascending.get(next).end() <= rest.start()) {
        next++;
      }
      while (next < ascending.size() && ascending.get(next).start() < rest.end()) {
        Range range = ascending.get(next);
        if (range.start() > rest.start()) {
          rest = cutOff(rest, range.start(), "", divided);
        }
        if (range.end() >= rest.end()) {
          rest = named(rest, name);
          break;
        }
        rest = cutOff(rest, range.end(), name, divided);
        next++;
      }
      divided.add(rest);
    }
    all = divided;
  }

  /** Adds what lies below an address and returns the rest. */
  private Mapping cutOff(Mapping mapping, long at, String nameBelow, List<Mapping> to) {
    long below = at - mapping.start();
    long above = mapping.end() - at;
    long resident = mapping.residentBytes();
    long residentBelow =
        below <= above
            ? resident(mapping.start(), at, resident)
            : resident - resident(at, mapping.end(), resident);
    residentBelow = Math.max(resident - above, Math.min(below, residentBelow));
    to.add(named(mapping.part(mapping.start(), at, residentBelow, mapping.name()), nameBelow));
    return mapping.part(at, mapping.end(), resident - residentBelow, mapping.name());
  }

  private long resident(long start, long end, long most) {
    if (most == 0) {
      return 0;
    }
    long present =
        memory
            .residentPages(start, end)
            .map(pages -> pages.cardinality() * AddressSpace.PAGE)
            .orElse(end - start);
    return Math.min(present, most);
  }

  private static Mapping named(Mapping mapping, String name) {
    return name.isEmpty()
        ? mapping
        : mapping.part(mapping.start(), mapping.end(), mapping.residentBytes(), name);
  }
}
