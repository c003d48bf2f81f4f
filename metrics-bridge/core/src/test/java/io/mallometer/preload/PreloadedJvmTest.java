package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.Published;
import io.mallometer.internal.history.RecordingReport;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Observation;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.prometheus.NativeMemoryCollector;
import io.mallometer.prometheus.RequestSizeHistogram;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.zip.Deflater;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@Tag("preload")
@ExtendWith(Counted.class)
class PreloadedJvmTest {

  private static final String LIVE = "native_malloc_live_bytes";

  /**
   * The most repetitions of a count. The lowest result is used, because other threads can only
   * raise a count.
   */
  private static final int ROUNDS = 10;

  @AutoClose private final Mallometer mallometer = Mallometer.open();

  @Test
  void theLibraryIsActiveAndSaysWhatItIs() {
    Snapshot snapshot = mallometer.poll();

    assertThat(snapshot.status().active()).as(snapshot.status().toString()).isTrue();
    assertThat(snapshot.status().reason()).isEqualTo(Counted.MODE);
    assertThat(snapshot.self().mode()).isEqualTo(Counted.MODE);
    assertThat(snapshot.self().since().orElseThrow()).isBefore(snapshot.time());
    assertThat(snapshot.self().build()).matches("\\d+\\.\\d+\\.\\d+.*");
    assertThat(snapshot.self().allocator()).startsWith("glibc 2.");
    assertThat(snapshot.self().byteUnit()).isIn(ByteUnit.GLIBC_CHUNK, ByteUnit.USABLE);
    assertThat(snapshot.self().footprintBytes()).isBetween(1_000.0, 64e6);
    assertThat(snapshot.self().overheadSeconds()).isBetween(1e-9, 60.0);
    assertThat(snapshot.self().pollSeconds()).isBetween(1e-9, 1.0);
  }

  @Test
  void whatWasAllocatedBeforeIsAPartOfLiveBytes() {
    Snapshot snapshot = mallometer.poll();
    NativeCounters counted = snapshot.process().orElseThrow();
    if (Counted.MODE.equals(SelfReport.PRELOADED)) {
      assertThat(snapshot.self().attachment()).isEmpty();
      assertThat(counted.baseline()).isEqualTo(Baseline.NONE);
      assertThat(counted.liveObjects()).isPositive();
      return;
    }
    Attachment attachment = snapshot.self().attachment().orElseThrow();
    assertThat(attachment.gaps()).isEmpty();
    assertThat(attachment.words()).isGreaterThan(10);
    // A started JVM has about ten megabytes of live memory. The baseline, the memory that was live
    // at the attach, is wrong by at most the memory in the malloc caches of a hundred threads.
    assertThat(counted.baseline().bytes()).isBetween(2e6, 500e6);
    assertThat(counted.baseline().errorBytes()).isBetween(0.0, 25e6);
    assertThat(counted.liveBytes()).isBetween(1e6, 1e9);
    assertThat(counted.peakBytes()).isGreaterThan(counted.baseline().bytes() / 2);
    assertThat(counted.liveObjects()).isNaN();
    assertThat(mallometer.sites().read().origin().attached()).isTrue();
    assertThat(mallometer.sites().read().origin().allocatedBeforeBytes())
        .isBetween(0.0, counted.baseline().bytes() + counted.baseline().errorBytes());
  }

  @Test
  void sitesHaveJavaFramesUseIsObservedAndTheBoxIsWritten(@TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("recording");
    try (Mallometer recording =
        Mallometer.open(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, Duration.ofMillis(50))
                .with(Setting.LEAK_TIME_SCALE, 100.0)
                .with(Setting.RECORDING, file))) {
      // Stacks have Java frames after the first reading.
      recording.sites().read();
      List<Deflater> held = new ArrayList<>();
      // Repeats the allocations, because on a busy machine the sampler takes few samples.
      await(
          () -> {
            held.forEach(Deflater::end);
            held.clear();
            held.addAll(NativeWork.deflaters(40));
            return recording.sites().read().sites().stream()
                .anyMatch(PreloadedJvmTest::isOfDeflaters);
          });
      held.forEach(Deflater::end);
      await(() -> recording.leaks().report().observation().state() != Observation.State.OFF);
      assertThat(recording.leaks().report().observation().state())
          .as(recording.leaks().report().toString())
          .isIn(Observation.State.STARTING, Observation.State.ON);
      await(() -> recording.history().recording().state() == RecordingStatus.State.ON);
      await(() -> RecordingReport.of(file).contains("Where the memory was"));
    }
    assertThat(RecordingReport.of(file)).containsPattern("mallometer \\d.* over glibc");
  }

  private static boolean isOfDeflaters(CallSite site) {
    return site.liveBytes().value() > 0
        && site.frames().stream()
            .anyMatch(
                frame ->
                    frame.kind() == StackFrame.Kind.JAVA && frame.owner().contains("Deflater"));
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    assertThat(ChildJvm.await(condition)).isTrue();
  }

  /**
   * The test counts this thread only, because JIT compilers may allocate and free similar amounts
   * in other threads.
   */
  @Test
  void compressorsThatAreNotEndedStayLive() {
    try (NativeScope scope = mallometer.counting().threadScope()) {
      List<Deflater> deflaters = NativeWork.deflaters(10);
      double growth = scope.figures().counts().orElseThrow().netBytes();
      assertThat(growth).isGreaterThan(10.0 * NativeWork.DEFLATER_BYTES);

      deflaters.forEach(Deflater::end);
      assertThat(scope.figures().counts().orElseThrow().netBytes())
          .isLessThan(growth - 9.0 * NativeWork.DEFLATER_BYTES);
    }
  }

  @Test
  void everyFaceShowsTheSameWork() throws Exception {
    PrometheusMeterRegistry micrometer = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    CollectorRegistry simpleclient = new CollectorRegistry();
    simpleclient.register(new NativeMemoryCollector(mallometer));
    try (NativeMemoryMetrics metrics = new NativeMemoryMetrics(mallometer);
        NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer);
        RequestSizeHistogram histogram =
            RequestSizeHistogram.register(
                mallometer, micrometer.getPrometheusRegistry(), Map.of())) {
      metrics.bindTo(micrometer);
      assertThat(beans.registered()).isTrue();
      assertThat(histogram.getPrometheusNames()).containsExactly(RequestSizeHistogram.NAME);
      long lowest = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS && lowest > NativeWork.ALLOCATIONS; round++) {
        lowest = Math.min(lowest, allocationsShown(micrometer, simpleclient));
        assertThat(lowest).isGreaterThanOrEqualTo(NativeWork.ALLOCATIONS);
      }
      assertThat(lowest).isEqualTo(NativeWork.ALLOCATIONS);
    }
  }

  /**
   * Returns the number of allocations in the size class of {@link NativeWork}. Asserts that JMX and
   * the metrics libraries show the same number.
   */
  private long allocationsShown(PrometheusMeterRegistry micrometer, CollectorRegistry simpleclient)
      throws Exception {
    try (NativeWork work = new NativeWork()) {
      Faces before = faces(micrometer, simpleclient);
      work.allocate();
      Faces after = faces(micrometer, simpleclient);
      for (Faces shown : List.of(before, after)) {
        NativeCounters counters = shown.snapshot().process().orElseThrow();
        assertThat(shown.jmxClassCount()).isEqualTo(classCount(counters));
        assertThat(classCount(shown.micrometer())).isEqualTo(classCount(counters));
        assertThat(classCount(shown.simpleclient())).isEqualTo(classCount(counters));
        assertThat(value(shown.micrometer(), LIVE)).isEqualTo(counters.liveBytes());
        assertThat(value(shown.simpleclient(), LIVE)).isEqualTo(counters.liveBytes());
      }
      return after.jmxClassCount() - before.jmxClassCount();
    }
  }

  private record Faces(
      Snapshot snapshot,
      long jmxClassCount,
      List<Published> micrometer,
      List<Published> simpleclient) {}

  /**
   * Returns the figures that JMX and the metrics libraries show of one snapshot. Reads them again
   * if the poller has polled meanwhile.
   */
  private Faces faces(PrometheusMeterRegistry micrometer, CollectorRegistry simpleclient)
      throws Exception {
    Faces shown;
    do {
      shown =
          new Faces(
              mallometer.poll(),
              jmxClassCount(),
              Published.parse(micrometer.scrape()),
              Published.parse(text(simpleclient)));
    } while (mallometer.snapshot() != shown.snapshot());
    return shown;
  }

  @Test
  void theThreadPollsByItself() throws Exception {
    Snapshot first = mallometer.snapshot();
    try (Mallometer fast =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(20)))) {
      await(() -> fast.snapshot() != first);
      assertThat(fast.snapshot().time()).isAfter(first.time());
      assertThat(fast.snapshot().process().orElseThrow().allocations())
          .isGreaterThanOrEqualTo(first.process().orElseThrow().allocations());
    }
  }

  @Test
  void readingMallocsNothing() {
    poll(2_000);
    // The JVM may allocate in any thread until all methods are compiled, which takes longer on a
    // busy machine.
    int quiet = 0;
    for (int i = 0; i < 100 && quiet < 3; i++) {
      try (NativeScope scope = mallometer.counting().threadScope()) {
        poll(1_000);
        quiet = scope.figures().counts().orElseThrow().calls() == 0 ? quiet + 1 : 0;
      }
    }
    assertThat(quiet).as("successive runs of 1,000 polls without a malloc").isEqualTo(3);
  }

  /** The bounds are far above the figures of an idle machine, because this machine may be busy. */
  @Test
  void aPollOfThreeHundredThreadsStaysBelowHalfAMillisecondAndTwoKilobytes() throws Exception {
    PollCost.Result cost = PollCost.measure(300);
    System.out.println(cost);

    assertThat(cost.threads()).isGreaterThan(300);
    assertThat(cost.medianMicros()).isLessThan(500);
    assertThat(cost.bytes()).isLessThan(2_000);
  }

  private void poll(int times) {
    for (int i = 0; i < times; i++) {
      mallometer.poll();
    }
  }

  private static long classCount(NativeCounters counters) {
    return counters.allocationsBySize().count(NativeWork.SIZE_CLASS);
  }

  private static long jmxClassCount() throws Exception {
    CompositeData[] classes =
        (CompositeData[])
            ManagementFactory.getPlatformMBeanServer()
                .getAttribute(new ObjectName(NativeMemoryMBeans.NAME), "SizeDistribution");
    return (long) classes[NativeWork.SIZE_CLASS].get("allocations");
  }

  private static double classCount(List<Published> shown) {
    return bucket(shown, 4 << 20) - bucket(shown, 2 << 20);
  }

  private static double bucket(List<Published> shown, double bound) {
    return shown.stream()
        .filter(sample -> sample.name().equals("native_malloc_request_size_bytes_bucket"))
        .filter(sample -> !sample.labels().get("le").equals("+Inf"))
        .filter(sample -> Double.parseDouble(sample.labels().get("le")) == bound)
        .findFirst()
        .orElseThrow()
        .value();
  }

  private static double value(List<Published> shown, String name) {
    return shown.stream()
        .filter(sample -> sample.name().equals(name))
        .findFirst()
        .orElseThrow()
        .value();
  }

  private static String text(CollectorRegistry registry) throws Exception {
    StringWriter text = new StringWriter();
    TextFormat.write004(text, registry.metricFamilySamples());
    return text.toString();
  }
}
