package io.mallometer.preload;

import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.SearchedObject;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.CallSite;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.zip.Deflater;

/**
 * Drops the addresses of some objects and keeps the addresses of others, while a collector moves
 * Java objects. Prints the number of objects whose addresses two searches did not find.
 *
 * <p>A single search may miss an address that moves from memory not yet read to memory already
 * read.
 */
public final class LosesMemory {

  private static final int OBJECTS = 100;

  /**
   * The size of an object in bytes. An object is small so that random words of the Java heap hardly
   * ever look like an address inside it.
   */
  private static final int BYTES = 40_000;

  private static final long[] KEPT = new long[OBJECTS];

  /**
   * A copy replaces this array again and again, so that the array stays in the young generation and
   * moves.
   */
  private static volatile long[] moving = new long[OBJECTS];

  private static volatile Object garbage = "";

  private LosesMemory() {}

  public static void main(String[] arguments) throws Throwable {
    NativeLibrary library = new ProcessLibrary();
    library.nameMethods(); // Stacks have Java frames from here on.
    library.observeUse(Duration.ofMillis(200));
    for (int i = 0; i < OBJECTS; i++) {
      lose();
      keep(i);
      move(i);
    }
    List<Deflater> deflaters = NativeWork.deflaters(OBJECTS);
    Thread churn = new Thread(LosesMemory::churn);
    churn.setDaemon(true);
    churn.start();
    printLost(library, List.of("lose", "keep", "move", "deflaters"));
    System.out.println("end " + deflaters.size());
  }

  private static void lose() throws Throwable {
    long unused = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }

  private static void keep(int i) throws Throwable {
    KEPT[i] = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }

  private static void move(int i) throws Throwable {
    moving[i] = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }

  private static void churn() {
    Object[] survivors = new Object[1000];
    for (int i = 0; ; i++) {
      survivors[i % survivors.length] = new long[1000];
      garbage = new byte[1000];
      moving = moving.clone();
    }
  }

  /** Searches twice for the objects of all methods, and prints a line for each method. */
  static void printLost(NativeLibrary library, List<String> methods) throws Exception {
    Map<Integer, String> methodOfSite = new HashMap<>();
    for (CallSite site : library.callSites(Instant.now(), List.of()).sites()) {
      if (site.liveBytes().value() >= BYTES) {
        methods.stream()
            .filter(method -> leadsThrough(site, method))
            .forEach(method -> methodOfSite.put(site.number(), method));
      }
    }
    MemorySearch first = search(library, methodOfSite.keySet());
    MemorySearch second = search(library, methodOfSite.keySet());
    for (String method : methods) {
      print(method, first, second, object -> method.equals(methodOfSite.get(object.site())));
    }
  }

  private static MemorySearch search(NativeLibrary library, Set<Integer> sites) throws Exception {
    String refusal = library.searchMemory(List.copyOf(sites), Long.MAX_VALUE);
    if (!refusal.isEmpty()) {
      throw new IllegalStateException(refusal);
    }
    while (library.memorySearch().state() == MemorySearch.State.RUNNING) {
      Thread.sleep(10);
    }
    return library.memorySearch();
  }

  private static boolean leadsThrough(CallSite site, String method) {
    return site.frames().stream()
        .anyMatch(
            frame -> frame.owner().startsWith("io.mallometer") && frame.name().equals(method));
  }

  private static void print(
      String method, MemorySearch first, MemorySearch search, Predicate<SearchedObject> isOwn) {
    Set<Long> lostAtFirst =
        first.objects().stream()
            .filter(SearchedObject::lost)
            .map(SearchedObject::id)
            .collect(Collectors.toSet());
    List<SearchedObject> large =
        search.objects().stream().filter(isOwn.and(object -> object.bytes() > 30_000)).toList();
    System.out.printf(
        "%s %s %d of %d lost; all searched: %d of %d MiB, %.2f s%n",
        method,
        search.state() + first.reason() + search.reason(),
        large.stream().filter(o -> o.lost() && lostAtFirst.contains(o.id())).count(),
        large.size(),
        search.coverage().searchedBytes() >> 20,
        search.coverage().residentBytes() >> 20,
        search.effort().cpuSeconds());
  }
}
