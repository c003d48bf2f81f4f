package io.mallometer.benchmarks.leaks;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.CallSite;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;

/**
 * Prints the cost of a search for lost memory. Argument: the GiB to fill with random words. The
 * search looks for the blocks that hold these words.
 */
public final class SearchCost {

  private static final int BYTES = 1 << 20;
  private static final int SEARCHES = 3;
  private static final double GIB = 1 << 30;

  private SearchCost() {}

  public static void main(String[] arguments) throws InterruptedException {
    NativeLibrary library = new ProcessLibrary();
    library.observeUse(Duration.ofSeconds(5));
    fill((long) (Double.parseDouble(arguments[0]) * GIB));
    List<Integer> sites =
        library.callSites(Instant.now(), List.of()).sites().stream()
            .filter(site -> site.liveBytes().value() >= BYTES)
            .map(CallSite::number)
            .limit(NativeLibrary.MOST_SEARCHED_SITES)
            .toList();
    for (int i = 0; i < SEARCHES; i++) {
      System.out.println(described(search(library, sites)));
    }
  }

  /** Fills memory with random words. A few look like addresses, as in other memory. */
  private static void fill(long bytes) {
    long[] words = new Random(1).longs(BYTES / Long.BYTES).toArray();
    for (long filled = 0; filled < bytes; filled += BYTES) {
      new Pointer(Native.malloc(BYTES)).write(0, words, 0, words.length);
    }
  }

  private static MemorySearch search(NativeLibrary library, List<Integer> sites)
      throws InterruptedException {
    String refusal = library.searchMemory(sites, Long.MAX_VALUE);
    if (!refusal.isEmpty()) {
      throw new IllegalStateException(refusal);
    }
    while (library.memorySearch().state() == MemorySearch.State.RUNNING) {
      Thread.sleep(50);
    }
    return library.memorySearch();
  }

  private static String described(MemorySearch search) {
    return String.format(
        "%s %s: %.2f of %.2f GiB, %.2f s of processor time, %.1f s in all; for %d objects",
        search.state(),
        search.reason(),
        search.coverage().searchedBytes() / GIB,
        search.coverage().residentBytes() / GIB,
        search.effort().cpuSeconds(),
        (search.effort().endedNanos() - search.effort().beganNanos()) / 1e9,
        search.objects().size());
  }
}
