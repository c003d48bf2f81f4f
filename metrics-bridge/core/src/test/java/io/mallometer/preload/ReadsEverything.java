package io.mallometer.preload;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Uses up the direct memory of the JVM, then reads all figures of the library in this process, and
 * prints a line for each kind.
 */
public final class ReadsEverything {

  private static final int OBJECTS = 40;
  private static final long BYTES = 2 << 20;
  private static final long HUGE = 65 << 20;
  private static final long LONGEST_NANOS = 20_000_000_000L;

  private ReadsEverything() {}

  public static void main(String[] arguments) throws Throwable {
    NativeLibrary library = new ProcessLibrary();
    library.callSites(Instant.now(), List.of());
    ByteBuffer direct = ByteBuffer.allocateDirect(directBytes());
    for (int i = 0; i < OBJECTS; i++) {
      keep();
    }
    NativeWork.freeMemory(NativeWork.allocateMemory(HUGE));
    Snapshot snapshot = library.read(Instant.now());
    System.out.println("status " + snapshot.status().state() + " " + snapshot.status().reason());
    System.out.println("remark " + snapshot.self().remark());
    snapshot
        .process()
        .ifPresent(
            counters ->
                System.out.printf(
                    "counters live=%b huge=%d largest=%.0f thread=%b%n",
                    counters.liveBytes() > OBJECTS * BYTES,
                    counters.hugeAllocations(),
                    counters.largestRequestBytes(),
                    library.thread().isPresent()));
    System.out.println(
        "events " + snapshot.hugeAllocations().stream().map(event -> event.bytes()).toList());
    sites(library);
    allocator(library);
    observation(library);
    System.out.println("recording " + library.recording().state());
    System.out.println("ranges " + !library.mappedRanges().isEmpty());
    System.out.println("message " + library.message().path());
    System.out.println("direct " + direct.capacity());
    System.out.println("end");
  }

  private static int directBytes() {
    long used =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getTotalCapacity)
            .sum();
    return (1 << 20) - (int) used;
  }

  private static void keep() throws Throwable {
    NativeWork.allocateMemory(BYTES);
  }

  private static void sites(NativeLibrary library) {
    CallSites sites = library.callSites(Instant.now(), List.of());
    Optional<CallSite> kept =
        sites.sites().stream()
            .filter(site -> site.frames().stream().anyMatch(ReadsEverything::isKeep))
            .findFirst();
    System.out.println(
        "site "
            + kept.map(
                    site ->
                        "live="
                            + site.liveObjects().value()
                            + " bytes="
                            + (site.liveBytes().value() >= OBJECTS * BYTES
                                && site.liveBytes().value() < OBJECTS * (BYTES + 8192))
                            + " ages="
                            + (site.ages().oldest() >= 0 && site.ages().oldest() < 60))
                .orElse("none: " + sites.reason()));
    System.out.println("dropped " + new TreeSet<>(sites.dropped().keySet()));
  }

  private static boolean isKeep(StackFrame frame) {
    return frame.owner().equals(ReadsEverything.class.getName()) && frame.name().equals("keep");
  }

  private static void allocator(NativeLibrary library) {
    Optional<AllocatorStatistics> statistics = library.allocator(Instant.now());
    System.out.println(
        "allocator "
            + statistics
                .map(
                    known ->
                        known.kind()
                            + " arenas="
                            + (known.byArena().size() > 1)
                            + " system="
                            + (known.systemBytes() > OBJECTS * BYTES
                                && known.systemBytes() < 8.0 * (1L << 30)))
                .orElse("none"));
  }

  private static void observation(NativeLibrary library) throws Throwable {
    library.observeUse(Duration.ofMillis(10));
    Evidence evidence = library.evidence();
    long begin = System.nanoTime();
    while (evidence.observation().state().name().equals("STARTING")
        && System.nanoTime() - begin < LONGEST_NANOS) {
      Thread.sleep(10);
      evidence = library.evidence();
    }
    System.out.println(
        "observation "
            + evidence.observation().state()
            + " "
            + evidence.observation().reason()
            + " objects="
            + (evidence.objects().size() >= OBJECTS));
  }
}
