package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.PublicNames;
import io.mallometer.model.SizeDistribution;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.util.ClassUtils;

@Tag("application")
class ApplicationTest {

  @TempDir private static Path directory;

  private static RunningApplication application;

  @BeforeAll
  static void start() {
    application =
        RunningApplication.start(
            "--management.metrics.tags.region=north",
            "--mallometer.poll-interval=50ms",
            "--mallometer.recording=" + directory.resolve("recording"),
            "--management.endpoints.web.exposure.include=prometheus,nativememory,metrics,health,info",
            "--management.endpoint.health.show-details=always",
            "--management.info.nativememory.enabled=true");
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  @Test
  void runsOnTheVersionAndWebStackThatTheBuildNames() {
    assertThat(SpringBootVersion.getVersion()).isEqualTo(Matrix.boot());
    assertThat(application.context().getClass().getSimpleName())
        .containsIgnoringCase(Matrix.web().name());
    assertThat(ClassUtils.isPresent("org.springframework.web.servlet.DispatcherServlet", null))
        .isEqualTo(Matrix.web() == WebApplicationType.SERVLET);
    assertThat(ClassUtils.isPresent("org.springframework.web.reactive.DispatcherHandler", null))
        .isEqualTo(Matrix.web() == WebApplicationType.REACTIVE);
  }

  @Test
  void stateIsPublished() {
    Map<String, Double> scrape = application.scrape();

    assertThat(scrape)
        .containsEntry("mallometer_active{region=\"north\"}", Matrix.preloaded() ? 1.0 : 0.0);
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void countersAreScraped() {
    Map<String, Double> scrape = application.scrape();

    assertThat(scrape.get("native_malloc_allocations_total{region=\"north\",size=\"small\"}"))
        .isGreaterThan(1000);
    assertThat(scrape.get("native_malloc_live_bytes{region=\"north\"}")).isGreaterThan(1_000_000);
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void requestSizesAreScrapedAsARealHistogramWithTheCommonTags() {
    assertThat(application.get("/actuator/prometheus"))
        .contains("# TYPE native_malloc_request_size_bytes histogram");
    Map<String, Double> scrape = application.scrape();

    Double all =
        scrape.get("native_malloc_request_size_bytes_bucket{region=\"north\",le=\"+Inf\"}");
    assertThat(all)
        .isEqualTo(scrape.get("native_malloc_request_size_bytes_count{region=\"north\"}"))
        .isGreaterThan(1000);
    assertThat(scrape.keySet())
        .filteredOn(series -> series.startsWith("native_malloc_request_size_bytes_bucket"))
        .hasSize(SizeDistribution.CLASSES);
  }

  @Test
  @DisabledIf("io.mallometer.spring.Matrix#preloaded")
  void nothingIsCountedWithoutTheLibrary() {
    assertThat(application.scrape().keySet())
        .noneMatch(series -> series.startsWith("native_malloc_"));
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void endpointTellsCountersDerivedFiguresSizesAndOwnCost() {
    Map<String, Object> body = application.json("/actuator/nativememory");

    assertThat(map(body, "status"))
        .containsEntry("state", "ACTIVE")
        .containsEntry("reason", "preloaded");
    Map<String, Object> counters = map(body, "process");
    assertThat(number(counters, "allocations"))
        .isGreaterThan(1000)
        .isEqualTo(number(counters, "smallAllocations") + number(counters, "largeAllocations"));
    assertThat(number(counters, "liveBytes"))
        .isEqualTo(number(counters, "allocatedBytes") - number(counters, "freedBytes"));
    assertThat((List<?>) counters.get("requestSizes")).hasSize(SizeDistribution.CLASSES);
    assertThat(map(body, "self").get("allocator").toString()).contains("glibc");
    assertThat(number(map(body, "self"), "footprintBytes")).isPositive();
  }

  @Test
  @DisabledIf("io.mallometer.spring.Matrix#preloaded")
  void endpointTellsWhyNothingIsCountedAndWhatToDo() {
    Map<String, Object> body = application.json("/actuator/nativememory");

    assertThat(map(body, "status"))
        .containsEntry("state", "UNAVAILABLE")
        .containsEntry("reason", "the library is not preloaded");
    assertThat(map(body, "status").get("remedy").toString())
        .contains("MALLOMETER_ATTACH=off forbids attaching", "LD_PRELOAD=/");
    assertThat(body.get("process")).isNull();
  }

  @Test
  void endpointTellsWhereMemoryGoesWithAndWithoutTheLibrary() {
    Map<String, Object> breakdown = Map.of();
    for (int i = 0; i < 100 && breakdown.get("totalBytes") == null; i++) {
      breakdown = application.json("/actuator/nativememory/breakdown");
    }
    long sum = 0;
    for (Object bytes : map(breakdown, "parts").values()) {
      sum += ((Number) bytes).longValue();
    }
    assertThat(sum).isEqualTo(number(breakdown, "totalBytes")).isGreaterThan(50_000_000);
    assertThat(number(breakdown, "presumedBytes")).isBetween(0L, 50_000_000L);

    Map<String, Object> budget = application.json("/actuator/nativememory/budget");
    assertThat(budget.get("verdict").toString()).containsAnyOf("limit ", "no limit");
    assertThat((List<?>) budget.get("lines")).hasSizeGreaterThan(4);

    Map<String, Object> cgroup = application.json("/actuator/nativememory/cgroup");
    assertThat(cgroup).containsKeys("parts", "events");
    assertThat(application.scrape().keySet())
        .anyMatch(series -> series.startsWith("native_memory_resident_bytes{part=\"java_heap\""));
  }

  /** {@link ServiceNamesTest} checks the names of an application that counts. */
  @Test
  @DisabledIf("io.mallometer.spring.Matrix#preloaded")
  void everySpringBootWritesTheSameNamesWithoutTheLibrary() {
    PublicNames.checkAnswers(ServiceNamesTest.answers(application));
  }

  @Test
  void healthTellsAndIsNeverDown() {
    Map<String, Object> all = application.json("/actuator/health");
    assertThat(all).containsEntry("status", "UP");

    Map<String, Object> body = application.json("/actuator/health/nativeMemory");
    Map<String, Object> details = map(body, "details");
    assertThat(body).containsEntry("status", Matrix.preloaded() ? "UP" : "UNKNOWN");
    assertThat(details).containsEntry("state", Matrix.preloaded() ? "ACTIVE" : "UNAVAILABLE");
    assertThat(details.containsKey("reason")).isNotEqualTo(Matrix.preloaded());
    assertThat(details.containsKey("liveBytes")).isEqualTo(Matrix.preloaded());
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void healthAndInfoHaveTheSameNamesOnEverySpringBoot() {
    String section = "health and info";
    PublicNames.check(
        section,
        PublicNames.await(section, () -> ServiceNamesTest.details(application)),
        PublicNames.names(section));
  }

  @Test
  void infoTellsWhatCounts() {
    Map<String, Object> info = map(application.json("/actuator/info"), "nativeMemory");

    assertThat(info)
        .containsEntry("state", Matrix.preloaded() ? "ACTIVE" : "UNAVAILABLE")
        .containsKeys("build", "allocator", "accounting");
  }

  @Test
  @EnabledIf("io.mallometer.spring.Matrix#preloaded")
  void endpointAndScrapeTellOfTheAllocator() {
    Map<String, Object> body = Map.of();
    for (int i = 0; i < 100 && body.get("systemBytes") == null; i++) {
      application.context().getBean(Mallometer.class).poll();
      body = application.json("/actuator/nativememory/allocator");
    }
    assertThat(body).containsEntry("kind", "glibc");
    assertThat(number(body, "usedBytes") + number(body, "retainedBytes"))
        .isEqualTo(number(body, "systemBytes"));
    assertThat((List<?>) body.get("byArena")).hasSize((int) number(body, "arenas"));
    assertThat(application.scrape())
        .containsKey("native_allocator_system_bytes{allocator=\"glibc\",region=\"north\"}");
  }

  @Test
  void endpointTellsTheLastHourAndWhereItIsRecorded() {
    Map<String, Object> recording = Map.of();
    for (int i = 0; i < 100 && !recording.toString().contains("state=ON"); i++) {
      recording = application.json("/actuator/nativememory/recording");
    }
    assertThat(map(recording, "file"))
        .containsEntry("state", Matrix.preloaded() ? "ON" : "FAILED")
        .containsEntry("path", directory.resolve("recording").toString());
    if (Matrix.preloaded()) {
      assertThat(directory.resolve("recording")).hasSize(2 << 20);
    }
    Map<String, Object> counted = map(application.json("/actuator/nativememory/history"), "malloc");
    assertThat(latest(counted, "times")).isGreaterThan(1_600_000_000_000.0);
    assertThat(latest(counted, "residentBytes")).isGreaterThan(50_000_000);
    assertThat(latest(counted, "liveBytes") > 0).isEqualTo(Matrix.preloaded());
  }

  private static double latest(Map<String, Object> columns, String name) {
    List<?> column = (List<?>) columns.get(name);
    return column.get(column.size() - 1) instanceof Number figure ? figure.doubleValue() : 0;
  }

  @Test
  void mbeanTellsTheSameState() throws Exception {
    assertThat(
            ManagementFactory.getPlatformMBeanServer()
                .isRegistered(new ObjectName("io.mallometer:type=NativeMemory")))
        .isTrue();
    assertThat(application.context().getBean(Mallometer.class).status().active())
        .isEqualTo(Matrix.preloaded());
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(Map<String, Object> body, String key) {
    return (Map<String, Object>) body.get(key);
  }

  private static long number(Map<String, Object> body, String key) {
    return ((Number) body.get(key)).longValue();
  }
}
