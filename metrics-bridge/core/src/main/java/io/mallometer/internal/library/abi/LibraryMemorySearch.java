package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.MemorySearch.Coverage;
import io.mallometer.internal.leak.evidence.MemorySearch.Effort;
import io.mallometer.internal.leak.evidence.SearchedObject;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Makes the library search the process's memory for pointers to objects. An object without any
 * pointer to it is lost. Thread-safe.
 */
final class LibraryMemorySearch {

  private static final int MOST_OBJECTS = 8_192;
  private static final double NANOS = 1e9;

  private final Abi.Searched searched = new Abi.Searched(Structs.keep(Abi.Searched.BYTES));

  synchronized String start(List<Integer> sites, long mostBytes) {
    int result =
        Structs.with(
            sites.size() * Integer.BYTES,
            wanted -> {
              sites.forEach(wanted::putInt);
              return LibraryFunctions.mallometer_search_start(
                  Structs.address(wanted), sites.size(), mostBytes);
            });
    return switch (result) {
      case 0 -> "";
      case Errno.EBUSY -> "a search runs already";
      case Errno.ENODATA -> "call sites are not recorded";
      default -> "no search can be started: errno " + -result;
    };
  }

  synchronized MemorySearch read() {
    int result = read(0, 0);
    if (result < 0) {
      return MemorySearch.none("no search can be read: errno " + -result);
    }
    int known = Math.min(MOST_OBJECTS, searched.objects());
    return known > 0 ? withObjects(known) : search(List.of());
  }

  private MemorySearch withObjects(int known) {
    return Structs.with(
        known * Abi.Sought.BYTES,
        rows ->
            search(
                IntStream.range(0, Math.max(0, read(Structs.address(rows), known)))
                    .mapToObj(i -> object(Abi.Sought.row(rows, i)))
                    .toList()));
  }

  private int read(long rows, int capacity) {
    return LibraryFunctions.mallometer_search(Structs.address(searched.memory()), rows, capacity);
  }

  private MemorySearch search(List<SearchedObject> objects) {
    return new MemorySearch(
        state(searched.state()),
        searched.reason(),
        searched.number(),
        new Effort(searched.beganNs(), searched.endedNs(), searched.cpuNs() / NANOS),
        new Coverage(searched.searchedBytes(), searched.residentBytes(), searched.swappedBytes()),
        searched.unreadThreads(),
        objects);
  }

  private static MemorySearch.State state(int number) {
    return switch (number) {
      case Abi.SEARCH_NONE -> MemorySearch.State.NONE;
      case Abi.SEARCH_RUNNING -> MemorySearch.State.RUNNING;
      case Abi.SEARCH_DONE -> MemorySearch.State.DONE;
      default -> MemorySearch.State.FAILED;
    };
  }

  private static SearchedObject object(Abi.Sought row) {
    return new SearchedObject(
        row.id(),
        row.site(),
        row.bytes(),
        row.probability(),
        row.bornNs(),
        Integer.toUnsignedLong(row.references()),
        row.freed() != 0);
  }
}
