package io.mallometer.internal.interposer;

import java.nio.ByteBuffer;
import java.util.List;

/** Searches by the library for objects that nobody can reach. Thread-safe. */
final class LostMemory {

  private static final int MOST_OBJECTS = 8_192;
  private static final ByteBuffer NO_OBJECTS = ByteBuffer.allocate(0);

  private static final int BUSY = 16;
  private static final int NO_DATA = 61;
  private static final int NO_SYSTEM_CALL = 38;

  private final ByteBuffer searched = Structs.keep(SearchLayout.BYTES);

  /** Returns why no search has begun; empty if one has. */
  synchronized String start(List<Integer> sites, long mostBytes) {
    ByteBuffer wanted = Structs.allocate(Math.max(1, sites.size()) * Integer.BYTES);
    sites.forEach(wanted::putInt);
    int result =
        LibraryFunctions.mallometer_search_start(Structs.address(wanted), sites.size(), mostBytes);
    return switch (-result) {
      case 0 -> "";
      case BUSY -> "a search runs already";
      case NO_DATA -> "call sites are not recorded";
      case NO_SYSTEM_CALL -> "the library is older than its bridge and cannot search";
      default -> "no search can be started: errno " + -result;
    };
  }

  /** Reads the latest. */
  synchronized MemorySearch read() {
    searched.putInt(SearchLayout.SIZE, SearchLayout.BYTES);
    int result = LibraryFunctions.mallometer_search(Structs.address(searched), 0, 0);
    if (result < 0) {
      return MemorySearch.none("no search can be read: errno " + -result);
    }
    int known = Math.min(MOST_OBJECTS, searched.getInt(SearchLayout.OBJECTS));
    return known > 0 ? withObjects(known) : SearchLayout.search(searched, NO_OBJECTS, 0);
  }

  private MemorySearch withObjects(int known) {
    ByteBuffer objects = Structs.allocate(known * SearchLayout.OBJECT_BYTES);
    int count =
        LibraryFunctions.mallometer_search(
            Structs.address(searched), Structs.address(objects), known);
    return SearchLayout.search(searched, objects, Math.max(0, count));
  }
}
