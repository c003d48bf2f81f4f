package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.VerdictsByHand;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Opens and closes contexts. While a context is open, each MBean and each meter must exist once.
 * After the last one has closed, none must be left.
 */
@Tag("context")
@Tag("any-jdk")
class ContextsTest {

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  @AfterEach
  void nothingIsLeft() {
    mallometer.close();
    assertThat(mbeans()).isEmpty();
  }

  @Test
  void closingLeavesNoMeterInARegistryThatLivesOn() {
    MeterRegistry outer = new SimpleMeterRegistry();

    try (ConfigurableApplicationContext context =
        Contexts.with("outer", MeterRegistry.class, outer).run()) {
      assertThat(ours(outer)).contains("mallometer.active");
      assertThat(mbeans()).hasSize(5);
      assertThat(context.getBean(NativeMemoryMBeans.class).registered()).isTrue();
    }

    assertThat(ours(outer)).isEmpty();
  }

  @Test
  @Tag("newest-boot")
  void monitorsThatPropertiesNameRunWhileTheContextIsOpen(@TempDir Path directory)
      throws Exception {
    BlockingQueue<MonitorEvent> told = new LinkedBlockingQueue<>();
    Path file = directory.resolve("memory.csv");
    mallometer.monitors().onEvent(told::add);
    mallometer.poll();
    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer)
            .run(
                "--mallometer.monitor.live-size=1KB",
                "--mallometer.monitor.threshold=2MB",
                "--mallometer.monitor.csv-file=" + file)) {
      assertThat(context.isRunning()).isTrue();
      MonitorEvent exceeded = told.poll(60, TimeUnit.SECONDS);
      assertThat(exceeded).isNotNull();
      assertThat(exceeded.monitor()).isEqualTo(MonitorOptions.liveSize(1_024));
      mallometer.setHugeAllocations(
          List.of(new HugeAllocation(1, Instant.EPOCH, 3 << 20, 7, "worker-1")));
      mallometer.poll();
      MonitorEvent requested = told.poll(60, TimeUnit.SECONDS);
      assertThat(requested).isNotNull();
      assertThat(requested.monitor()).isEqualTo(MonitorOptions.threshold(2 << 20));
      assertThat(file).exists();
    }

    mallometer.setHugeAllocations(
        List.of(new HugeAllocation(2, Instant.EPOCH, 3 << 20, 7, "worker-1")));
    mallometer.advance(Duration.ofSeconds(5));
    mallometer.poll();
    assertThat(told.poll(200, TimeUnit.MILLISECONDS)).isNull();
    assertThat(Files.readAllLines(file)).hasSize(2);
  }

  @Test
  void siblingsHaveTheirOwnMetersAndOneMBean() {
    ConfigurableApplicationContext first = Contexts.with(mallometer).run();
    ConfigurableApplicationContext second = Contexts.with(mallometer).run();
    assertThat(scrape(first)).contains("native_malloc_request_size_bytes_count 22");
    assertThat(scrape(second)).contains("native_malloc_request_size_bytes_count 22");
    assertThat(mbeans()).hasSize(5);

    first.close();
    assertThat(scrape(second))
        .contains("mallometer_active 1.0", "native_malloc_request_size_bytes_count 22");
    assertThat(mbeans()).hasSize(5);

    second.close();
  }

  @Test
  void childUsesWhatTheParentHas() {
    try (ConfigurableApplicationContext parent = Contexts.with(mallometer).run()) {
      try (ConfigurableApplicationContext child = Contexts.application().parent(parent).run()) {
        assertThat(child.getBean(Mallometer.class)).isSameAs(mallometer);
        assertThat(child.getBean(NativeMemoryMBeans.class))
            .isSameAs(parent.getBean(NativeMemoryMBeans.class));
        assertThat(mbeans()).hasSize(5);
      }
      assertThat(mbeans()).hasSize(5);
      assertThat(scrape(parent))
          .containsOnlyOnce("# TYPE native_malloc_live_bytes gauge")
          .containsOnlyOnce("# TYPE native_malloc_request_size_bytes histogram");
    }
  }

  @Test
  void childWithARegistryOfItsOwnHasTheMetersInIt() {
    MeterRegistry own = new SimpleMeterRegistry();

    try (ConfigurableApplicationContext parent = Contexts.with(mallometer).run();
        ConfigurableApplicationContext child =
            Contexts.with("own", MeterRegistry.class, own).parent(parent).run()) {
      assertThat(child.isActive()).isTrue();
      assertThat(ours(own)).contains("native.malloc.live");
    }
  }

  @Test
  void restartedContextIsLikeTheFirst() {
    for (int start = 0; start < 2; start++) {
      try (ConfigurableApplicationContext context = Contexts.with(mallometer).run()) {
        assertThat(scrape(context))
            .containsOnlyOnce("native_malloc_live_bytes 600000.0")
            .containsOnlyOnce("native_malloc_request_size_bytes_count 22");
        assertThat(mbeans()).hasSize(5);
      }
      assertThat(mbeans()).isEmpty();
    }
  }

  @Test
  void lazyApplicationIsVisibleFromOutside() {
    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer).lazyInitialization(true).run()) {
      assertThat(mbeans()).hasSize(5);
      assertThat(scrape(context))
          .contains("native_malloc_live_bytes 600000.0")
          .contains("native_malloc_request_size_bytes_count 22");
    }
  }

  @Test
  void registryThatIsAddedLateHasTheMeters() {
    MeterRegistry late = new SimpleMeterRegistry();

    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer)
            .run(
                "--management.prometheus.metrics.export.enabled=false",
                "--management.simple.metrics.export.enabled=false")) {
      context.getBean(CompositeMeterRegistry.class).add(late);

      assertThat(late.get("native.malloc.live").gauge().value()).isEqualTo(600_000);
    }
    assertThat(ours(late)).isEmpty();
  }

  @Test
  void prometheusRegistryThatIsAddedLateHasTheHistogramAfterTheNextPoll() {
    PrometheusMeterRegistry late = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    late.config().commonTags("registry", "late");

    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer)
            .run(
                "--management.prometheus.metrics.export.enabled=false",
                "--management.simple.metrics.export.enabled=false")) {
      context.getBean(CompositeMeterRegistry.class).add(late);
      mallometer.poll();
      mallometer.poll();

      assertThat(late.scrape())
          .containsOnlyOnce("native_malloc_request_size_bytes_count{registry=\"late\"} 22");
    }
    assertThat(late.scrape()).doesNotContain("native_malloc");
  }

  @Test
  @Tag("newest-boot")
  void hugeRequestsArePublishedAsEventsOnceInEachContext() throws Exception {
    BlockingQueue<HugeAllocationEvent> events = new LinkedBlockingQueue<>();
    ApplicationListener<HugeAllocationEvent> listener = events::add;
    mallometer.setHugeAllocations(
        List.of(new HugeAllocation(3, Instant.EPOCH, 1 << 30, 7, "worker")));
    mallometer.poll();

    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer).listeners(listener).run()) {
      assertThat(context.isActive()).isTrue();
      mallometer.poll();
      HugeAllocationEvent event = events.poll(60, TimeUnit.SECONDS);
      assertThat(event).isNotNull();
      assertThat(event.allocation().bytes()).isEqualTo(1 << 30);
      assertThat(event.allocation().threadName()).isEqualTo("worker");
      assertThat(event.getTimestamp()).isZero();
      assertThat(event.missedBefore()).isEqualTo(2);
      mallometer.poll();
      assertThat(events.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }
  }

  @Test
  @Tag("newest-boot")
  void eachLeakIsPublishedAsAnEventOnce() throws Exception {
    BlockingQueue<LeakEvent> events = new LinkedBlockingQueue<>();
    ApplicationListener<LeakEvent> listener = events::add;

    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer).listeners(listener).run()) {
      assertThat(context.isActive()).isTrue();
      assertThat(events).isEmpty();
      mallometer.setLeaks(VerdictsByHand.four());
      mallometer.poll();

      LeakEvent event = events.poll(60, TimeUnit.SECONDS);
      assertThat(event).isNotNull();
      assertThat(event.getSource()).isSameAs(mallometer);
      assertThat(event.leak().site().name()).isEqualTo("com.shop.Report.render");
      assertThat(event.leak().sentence()).isEqualTo("com.shop.Report.render keeps memory");
      mallometer.poll();
      assertThat(events.poll(100, TimeUnit.MILLISECONDS)).isNull();
    }
    mallometer.setLeaks(VerdictsByHand.report());
    mallometer.poll();
    mallometer.setLeaks(VerdictsByHand.four());
    mallometer.poll();
    assertThat(events).isEmpty();
  }

  @Test
  void deniedMetersAreNotScrapedAndTheHistogramNeither() {
    try (ConfigurableApplicationContext context =
        Contexts.with(mallometer).run("--management.metrics.enable.native=false")) {
      assertThat(scrape(context)).contains("mallometer_active 1.0").doesNotContain("native_malloc");
    }
  }

  @Test
  void filtersFromCodeReachTheHistogram() {
    MeterFilter renaming =
        new MeterFilter() {
          @Override
          public Meter.Id map(Meter.Id id) {
            return id.getName().startsWith("native.")
                ? id.withName("acme." + id.getName())
                    .withTag(io.micrometer.core.instrument.Tag.of("cost.centre", "7"))
                : id;
          }
        };

    try (ConfigurableApplicationContext context =
        Contexts.with("renaming", MeterFilter.class, renaming)
            .initializers(own -> own.getBeanFactory().registerSingleton("counting", mallometer))
            .run()) {
      assertThat(scrape(context))
          .contains("acme_native_malloc_live_bytes{cost_centre=\"7\"} 600000.0")
          .contains("acme_native_malloc_request_size_bytes_count{cost_centre=\"7\"} 22")
          .doesNotContain("\nnative_malloc");
    }
  }

  @Test
  @Tag("application")
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void closingTheContextEndsThePolling() throws InterruptedException {
    mallometer.close();
    try (ConfigurableApplicationContext context = Contexts.application().run()) {
      assertThat(context.getBean(Mallometer.class).status().active()).isTrue();
      assertThat(pollers()).isNotEmpty();
    }

    for (Thread poller : pollers()) {
      poller.join(60_000);
    }
    assertThat(pollers()).isEmpty();
  }

  private static List<Thread> pollers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("mallometer-poller"))
        .toList();
  }

  private static String scrape(ConfigurableApplicationContext context) {
    return context.getBean(PrometheusMeterRegistry.class).scrape();
  }

  private static List<String> ours(MeterRegistry registry) {
    return registry.getMeters().stream()
        .map(meter -> meter.getId().getName())
        .filter(name -> name.startsWith("native.") || name.startsWith("mallometer."))
        .toList();
  }

  private static Set<ObjectName> mbeans() {
    try {
      return ManagementFactory.getPlatformMBeanServer()
          .queryNames(new ObjectName("io.mallometer:*"), null);
    } catch (MalformedObjectNameException e) {
      throw new AssertionError(e);
    }
  }
}
