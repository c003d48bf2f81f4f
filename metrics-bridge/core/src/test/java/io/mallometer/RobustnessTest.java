package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mallometer.internal.engine.Engine;
import io.mallometer.internal.engine.Sources;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.prometheus.NativeMemoryCollector;
import io.prometheus.client.Collector.MetricFamilySamples;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that values stay right with very many scrapes, interrupts and clocks that jump. */
@Tag("any-jdk")
class RobustnessTest {

  private static final int SCRAPERS = 4;
  private static final int SCRAPES = 1_000;
  private static final int READINGS = 20;
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final MallometerOptions FAST =
      MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(10));

  private final GrowingLibrary library = new GrowingLibrary();
  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
  private final Clock clock =
      ((InstantSource) () -> Instant.now().plus(ahead.get())).withZone(ZoneOffset.UTC);

  @Test
  void countersNeverFallHoweverOftenTheyAreScraped() throws Exception {
    try (Mallometer mallometer = open(MemorySource.ofThisProcess())) {
      ExecutorService scrapers = Executors.newFixedThreadPool(SCRAPERS);
      List<Future<List<Double>>> all = new ArrayList<>();
      for (int i = 0; i < SCRAPERS; i++) {
        all.add(scrapers.submit(() -> scrape(mallometer)));
      }
      for (Future<List<Double>> one : all) {
        List<Double> frees = one.get(2, TimeUnit.MINUTES);
        assertThat(frees).isSorted();
        assertThat(frees.get(frees.size() - 1)).isGreaterThan(frees.get(0));
      }
      scrapers.shutdown();
    }
  }

  private List<Double> scrape(Mallometer mallometer) {
    NativeMemoryCollector collector = new NativeMemoryCollector(mallometer);
    List<Double> frees = new ArrayList<>();
    long enough = library.readings.get() + READINGS;
    for (int i = 0; i < SCRAPES || library.readings.get() < enough; i++) {
      frees.add(value(inANewThread(collector::collect), "native_malloc_frees"));
      partsAddUp(mallometer.snapshot());
    }
    return frees;
  }

  @Test
  void aSplitThatHangsKeepsNobodyWaiting() throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    MemorySource hangs =
        new ScriptedMemory(
            counted -> {
              hanging.countDown();
              awaitUninterrupted(released);
              return ProcessMemory.unknown();
            });
    try (Mallometer mallometer = open(hangs)) {
      hanging.await();
      NativeMemoryCollector collector = new NativeMemoryCollector(mallometer);

      assertTimeoutPreemptively(
          LONG,
          () -> {
            assertThat(collector.collect()).isNotEmpty();
            double before = mallometer.snapshot().process().orElseThrow().frees();
            assertThat((double) mallometer.poll().process().orElseThrow().frees())
                .isGreaterThan(before);
          });
      ahead.updateAndGet(time -> time.plus(Duration.ofMinutes(5)));
      assertThat(value(collector.collect(), "mallometer_snapshot_age_seconds"))
          .isGreaterThanOrEqualTo(300);
      released.countDown();
    }
  }

  @Test
  void anInterruptedThreadReadsOn() throws Exception {
    AtomicLong failures = new AtomicLong();
    AtomicBoolean split = new AtomicBoolean();
    MemorySource process = MemorySource.ofThisProcess();
    MemorySource observed =
        new ScriptedMemory(
            counted -> {
              // Interrupts this thread just before memory is read, as an application may do.
              Thread.currentThread().interrupt();
              ProcessMemory memory = process.read(counted, OptionalLong.empty(), List::of);
              failures.addAndGet(Double.isNaN(memory.residentBytes()) ? 1 : 0);
              split.set(memory.resident().isPresent());
              return memory;
            });
    try (Mallometer mallometer = open(observed)) {
      library.awaitReadings(50);
      assertThat(mallometer.snapshot().memory().resident()).isPresent();
    }
    assertThat(failures).hasValue(0);
    assertThat(split).isTrue();
  }

  /** A jump of the clock changes times, but no counts. */
  @Test
  void clocksMayJump() throws Exception {
    try (Mallometer mallometer = open(MemorySource.ofThisProcess())) {
      NativeMemoryCollector collector = new NativeMemoryCollector(mallometer);
      List<Double> frees = new ArrayList<>();
      for (Duration jump :
          List.of(Duration.ofHours(-1), Duration.ofDays(3650), Duration.ofDays(-7300))) {
        ahead.updateAndGet(time -> time.plus(jump));
        List<MetricFamilySamples> families = inANewThread(collector::collect);
        assertThat(value(families, "mallometer_snapshot_age_seconds")).isNotNegative();
        frees.add(value(families, "native_malloc_frees"));
        // The last of these four readings may not be published yet; the others are.
        library.awaitReadings(4);

        assertThat(mallometer.snapshot().age(clock)).isLessThan(LONG);
        frees.add(value(inANewThread(collector::collect), "native_malloc_frees"));
      }
      assertThat(frees).isSorted();
      assertThat(frees.get(frees.size() - 1)).isGreaterThanOrEqualTo(frees.get(0) + 9);
    }
  }

  /** Runs work in a new thread, because one thread may get the same snapshot for up to 5 s. */
  private static <T> T inANewThread(Supplier<T> work) {
    return CompletableFuture.supplyAsync(work, task -> new Thread(task).start()).join();
  }

  private Mallometer open(MemorySource source) {
    return new Mallometer(new Engine(Sources.of(library, source, clock)), Optional.of(FAST));
  }

  private static double value(List<MetricFamilySamples> families, String name) {
    return families.stream()
        .filter(family -> family.name.equals(name))
        .mapToDouble(family -> family.samples.get(0).value)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + name));
  }

  private static void partsAddUp(Snapshot snapshot) {
    snapshot
        .memory()
        .resident()
        .ifPresent(
            split ->
                assertThat(split.parts().values().stream().mapToLong(bytes -> bytes).sum())
                    .isEqualTo(split.totalBytes()));
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static final class GrowingLibrary extends SilentLibrary {

    private final AtomicLong readings = new AtomicLong();
    private final Semaphore awaited = new Semaphore(0);

    GrowingLibrary() {
      super(Status.counting());
    }

    void awaitReadings(int more) throws InterruptedException {
      awaited.drainPermits();
      assertThat(awaited.tryAcquire(more, 60, TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public Snapshot read(Instant time) {
      awaited.release();
      return new Snapshot(time, Status.counting(), process(), FaceContract.selfReport());
    }

    @Override
    public Optional<NativeCounters> process() {
      NativeCounters counters = FaceContract.counters(true, Double.NaN);
      return Optional.of(
          new NativeCounters(
              counters.allocationsBySize(),
              readings.incrementAndGet(),
              counters.failed(),
              counters.requestedBytes(),
              counters.allocatedBytes(),
              counters.freedBytes(),
              counters.peakBytes(),
              counters.peakErrorBytes(),
              counters.largestRequestBytes(),
              counters.hugeAllocations(),
              counters.threads(),
              counters.complete()));
    }
  }
}
