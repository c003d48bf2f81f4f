package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.process.MappingKinds.Kind;
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

  /** Returns the resident bytes of each call site, most first. */
  static List<Mapped> in(List<Piece> pieces) {
    ApplicationMappings mappings = new ApplicationMappings();
    for (Piece piece : pieces) {
      if (piece.kind() == Kind.UNKNOWN && piece.mapping().residentBytes() > 0) {
        piece
            .range()
            .filter(MappedRange::isOfApplication)
            .ifPresent(range -> mappings.add(range, piece.mapping().residentBytes()));
      }
    }
    return mappings.mostFirst();
  }

  private void add(MappedRange range, long resident) {
    String place = StackFrame.place(range.frames(), range.name());
    bytes.merge(new Site(range.name(), place), resident, Long::sum);
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
