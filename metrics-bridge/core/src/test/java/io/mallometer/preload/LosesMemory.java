package io.mallometer.preload;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.MemorySearch;
import io.mallometer.internal.interposer.SoughtObject;
import io.mallometer.model.CallSite;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.Deflater;

/**
 * Drops the addresses of some objects and keeps those of others, in Java's heap and in that of the
 * C library, while a collector moves what Java keeps; prints of how many two searches found no
 * address: during one, an address may move from what is still to be read to what was read.
 */
public final class LosesMemory {

  private static final int OBJECTS = 100;
  private static final int BYTES = 300_000;

  private static final long[] KEPT = new long[OBJECTS];
  private static volatile Object garbage = "";

  private LosesMemory() {}

  /** Runs. */
  public static void main(String[] arguments) throws Throwable {
    Interposer library = Interposer.ofThisProcess();
    library.nameMethods(); // stacks have Java frames from here on
    library.observeUse(Duration.ofMillis(200));
    for (int i = 0; i < OBJECTS; i++) {
      lose();
      keep(i);
    }
    List<Deflater> deflaters = NativeWork.deflaters(OBJECTS);
    Thread churn = new Thread(LosesMemory::churn);
    churn.setDaemon(true);
    churn.start();
    for (String method : List.of("lose", "keep", "deflaters")) {
      print(method, search(library, method), search(library, method));
    }
    System.out.println("end " + deflaters.size());
  }

  private static void lose() throws Throwable {
    long unused = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }

  private static void keep(int i) throws Throwable {
    KEPT[i] = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }

  private static void churn() {
    Object[] survivors = new Object[1000];
    for (int i = 0; ; i++) {
      survivors[i % survivors.length] = new long[1000];
      garbage = new byte[1000];
    }
  }

  private static MemorySearch search(Interposer library, String method) throws Exception {
    List<Integer> sites =
        library.callSites(Instant.now(), List.of()).sites().stream()
            .filter(site -> leadsThrough(site, method) && site.liveBytes().value() >= BYTES)
            .map(CallSite::number)
            .toList();
    String refusal = library.searchMemory(sites, Long.MAX_VALUE);
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

  private static void print(String method, MemorySearch first, MemorySearch search) {
    Set<Long> lostAtFirst =
        first.objects().stream()
            .filter(SoughtObject::lost)
            .map(SoughtObject::id)
            .collect(Collectors.toSet());
    List<SoughtObject> large =
        search.objects().stream().filter(object -> object.bytes() > 30_000).toList();
    System.out.printf(
        "%s %s %d of %d lost; %d of %d MiB, %.2f s%n",
        method,
        search.state() + first.reason() + search.reason(),
        large.stream().filter(o -> o.lost() && lostAtFirst.contains(o.id())).count(),
        large.size(),
        search.searchedBytes() >> 20,
        search.residentBytes() >> 20,
        search.cpuSeconds());
  }
}
