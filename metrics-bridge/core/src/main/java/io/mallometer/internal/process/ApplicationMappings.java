package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.model.ResidentMemory.Mapped;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sums up the anonymous memory that the program or its libraries mapped, by call site. */
final class ApplicationMappings {

  private final Map<Site, Long> bytes = new LinkedHashMap<>();

  private record Site(String name, String place) {}

  private ApplicationMappings() {}

  /**
   * Returns the resident bytes of each call site, most first.
   *
   * @param unknown the mappings of unknown kind, ascending by address
   * @param ranges the ranges that the process mapped, ascending by address
   */
  static List<Mapped> in(List<Mapping> unknown, List<MappedRange> ranges, AddressSpace memory) {
    List<MappedRange> known = new ArrayList<>();
    List<Range> bounds = new ArrayList<>();
    for (MappedRange range : ranges) {
      if (range.isOfApplication()) {
        known.add(range);
        bounds.add(new Range(range.start(), range.end()));
      }
    }
    ApplicationMappings mappings = new ApplicationMappings();
    if (!known.isEmpty()) {
      Pieces pieces = new Pieces(memory, unknown);
      pieces.cut(bounds);
      mappings.add(pieces.all(), known);
    }
    return mappings.mostFirst();
  }

  private void add(List<Mapping> pieces, List<MappedRange> known) {
    int next = 0;
    for (Mapping piece : pieces) {
      while (next < known.size() && known.get(next).end() <= piece.start()) {
        next++;
      }
      if (next < known.size()
          && known.get(next).start() <= piece.start()
          && piece.residentBytes() > 0) {
        MappedRange range = known.get(next);
        String place = StackFrame.place(range.frames(), range.name());
        bytes.merge(new Site(range.name(), place), piece.residentBytes(), Long::sum);
      }
    }
  }

  private List<Mapped> mostFirst() {
    List<Mapped> mapped = new ArrayList<>(bytes.size());
    for (Map.Entry<Site, Long> site : bytes.entrySet()) {
      mapped.add(new Mapped(site.getKey().name(), site.getKey().place(), site.getValue()));
    }
    mapped.sort(Comparator.comparingLong((Mapped site) -> -site.bytes()));
    return mapped;
  }
}
