package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.internal.monitor.Trimmer;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.Phase;
import io.mallometer.model.Setting;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.TrimReport;
import io.mallometer.preload.Counted;
import io.mallometer.preload.NativeWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests this JVM's allocator: its statistics, the memory that a trim returns, and huge requests.
 */
@Tag("preload")
@ExtendWith(Counted.class)
class AllocatorOfARealJvmTest {

  private static final int BYTES = 60_000;
  private static final int OBJECTS = 5_000;
  private static final long HUGE = 80L << 20;
  private static final long SLACK = 6 << 20;

  private final NativeLibrary library = new ProcessLibrary();

  @Test
  void whatATrimGivesBackIsKnownBefore() {
    List<Long> kept = holesInTheHeap();
    AllocatorStatistics before = read();
    assertThat(before.kind()).isEqualTo(AllocatorKind.GLIBC);
    assertThat(before.usedBytes() + before.retainedBytes()).isEqualTo(before.systemBytes());
    assertThat(before.byArena()).hasSize((int) before.arenas());
    assertThat(before.trimmableBytes())
        .isBetween(0.8 * OBJECTS / 2 * BYTES, before.releasableBytes());

    TrimReport report =
        new Trimmer(
                library,
                MemorySource.ofThisProcess()::residentBytes,
                Clock.systemUTC(),
                System::nanoTime)
            .trim(Duration.ZERO);

    System.out.printf(
        "trimmable %.1f MiB, releasable %.1f MiB, returned %.1f MiB in %.3f s; read in %.6f s%n",
        before.trimmableBytes() / (1 << 20),
        before.releasableBytes() / (1 << 20),
        report.returnedBytes() / (1 << 20),
        report.seconds(),
        before.costSeconds());
    assertThat(report.outcome()).isEqualTo(TrimReport.Outcome.DONE);
    // The JVM's other threads may allocate and free during the trim.
    assertThat(report.returnedBytes())
        .isBetween(before.trimmableBytes() * 0.95 - SLACK, before.releasableBytes() * 1.05 + SLACK);

    AllocatorStatistics after = read();
    assertThat(after.trims()).isEqualTo(before.trims() + 1);
    assertThat(after.trimmableBytes()).isLessThan(before.trimmableBytes() / 4);
    assertThat(after.releasableBytes()).isGreaterThan(before.releasableBytes() / 2);
    kept.forEach(NativeWork::freeMemory);
  }

  @Test
  void aHugeRequestIsToldOnceWithItsThread() throws Exception {
    BlockingQueue<HugeAllocation> told = new LinkedBlockingQueue<>();
    Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(100)));
    mallometer
        .allocator()
        .onHugeAllocation(
            (allocation, missed) -> {
              if (allocation.bytes() == HUGE + 12_344) {
                told.add(allocation);
              }
            });

    Thread thread =
        new Thread(
            () -> NativeWork.freeMemory(NativeWork.allocateMemory(HUGE + 12_344)), "huge-taker");
    thread.start();
    thread.join();

    HugeAllocation allocation = told.poll(60, TimeUnit.SECONDS);
    assertThat(allocation).isNotNull();
    assertThat(allocation.threadName()).isEqualTo("huge-taker");
    assertThat(allocation.number()).isPositive();
    assertThat(told.poll(1500, TimeUnit.MILLISECONDS)).isNull();
    mallometer.close();
  }

  @Test
  void monitorsNameTheStackOfARequestAndWhoIsLive() throws Exception {
    BlockingQueue<MonitorEvent> told = new LinkedBlockingQueue<>();
    // An earlier allocation makes the call site known. Without it, the monitor's event could come
    // before the first sample of the site.
    long before = NativeWork.allocateMemory(2 * HUGE);
    long address;
    try (Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(100)))) {
      assertThat(
              ChildJvm.await(
                  () ->
                      mallometer.sites().read().sites().stream()
                          .anyMatch(site -> site.liveBytes().value() > HUGE)))
          .isTrue();
      mallometer.monitors().onEvent(told::add);
      mallometer.monitors().start(MonitorOptions.threshold(HUGE));
      long live = (long) mallometer.poll().process().orElseThrow().liveBytes();
      mallometer.monitors().start(MonitorOptions.liveSize(live + HUGE / 2));
      address = NativeWork.allocateMemory(2 * HUGE);

      Map<MonitorOptions.Kind, MonitorEvent> events = new EnumMap<>(MonitorOptions.Kind.class);
      while (events.size() < 2) {
        MonitorEvent event = told.poll(60, TimeUnit.SECONDS);
        assertThat(event).as("a further event after " + events).isNotNull();
        events.put(event.monitor().kind(), event);
      }
      MonitorEvent request = events.get(MonitorOptions.Kind.THRESHOLD);
      assertThat(request.bytes()).isGreaterThanOrEqualTo(2 * HUGE);
      assertThat(String.join("\n", request.details()))
          .contains("libjvm.so!")
          .contains("on average: io.mallometer.preload.NativeWork.allocateMemory");
      assertThat(String.join("\n", events.get(MonitorOptions.Kind.LIVE_SIZE).details()))
          .contains("NativeWork.allocateMemory");
    }
    NativeWork.freeMemory(address);
    NativeWork.freeMemory(before);
  }

  /** The library's threshold for huge requests is larger than the threshold of the monitor. */
  @Test
  void aThresholdIsOfAnySizeAndTellsWhatIsLeftWhenItEnds() throws Exception {
    List<MonitorEvent> told = new ArrayList<>();
    try (Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofDays(1)))) {
      double huge = mallometer.poll().self().hugeThresholdBytes();
      MonitorOptions options = MonitorOptions.threshold(300_000);
      assertThat(huge).isGreaterThan(400_000);
      mallometer.monitors().onEvent(told::add);
      Mallometer.Subscription subscription = mallometer.monitors().start(options);
      NativeWork.freeMemory(NativeWork.allocateMemory(200_000));
      NativeWork.freeMemory(NativeWork.allocateMemory(400_000));
      subscription.close();
      NativeWork.freeMemory(NativeWork.allocateMemory(500_000));
      mallometer.poll();

      // Compiler threads may also request this many bytes.
      assertThat(told)
          .filteredOn(event -> event.threadId() == ownThreadId())
          .singleElement()
          .satisfies(
              event -> {
                assertThat(event.bytes()).isBetween(400_000L, 400_099L);
                assertThat(String.join("\n", event.details())).contains("libjvm.so!");
              });
      assertThat(told).noneMatch(event -> event.bytes() <= 300_000);
    }
  }

  private static int ownThreadId() {
    try {
      Path own = Files.readSymbolicLink(Path.of("/proc/thread-self"));
      return Integer.parseInt(own.getFileName().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void returnedSizesAreCountedWhileAMonitorIsThere() {
    try (Mallometer mallometer = Mallometer.open(MallometerOptions.defaults())) {
      mallometer.poll();
      Mallometer.Monitors monitors = mallometer.monitors();
      assertThat(monitors.returnedSizes()).isEmpty();
      Mallometer.Subscription subscription = monitors.start(MonitorOptions.usableSizes());
      monitors.nextPhase("counted");
      SizeDistribution before = monitors.returnedSizes().orElseThrow();
      for (int i = 0; i < 100; i++) {
        NativeWork.freeMemory(NativeWork.allocateMemory(1 << 20));
      }
      SizeDistribution after = monitors.returnedSizes().orElseThrow();
      Phase phase = monitors.nextPhase("").orElseThrow();
      subscription.close();

      // A request of 1 MiB plus the allocator's overhead is in the size class up to 2 MiB.
      assertThat(after.minus(before).count(17)).isBetween(100L, 150L);
      assertThat(phase.returnedSizes().orElseThrow().count(17)).isBetween(100L, 150L);
      assertThat(monitors.returnedSizes()).isEmpty();
    }
  }

  /** Allocates and touches objects, frees every second one, and returns the others. */
  private static List<Long> holesInTheHeap() {
    List<Long> kept = new ArrayList<>();
    List<Long> freed = new ArrayList<>();
    for (int i = 0; i < OBJECTS; i++) {
      long address = NativeWork.allocateMemory(BYTES);
      NativeWork.fill(address, BYTES);
      (i % 2 == 0 ? kept : freed).add(address);
    }
    freed.forEach(NativeWork::freeMemory);
    return kept;
  }

  private AllocatorStatistics read() {
    AllocatorReader reader =
        new AllocatorReader(library, () -> false, Clock.systemUTC(), System::nanoTime);
    reader.read(
        MemorySource.ofThisProcess()
            .read(() -> library.read(Instant.now()), OptionalLong.empty(), List::of));
    return reader.latest().orElseThrow();
  }
}
