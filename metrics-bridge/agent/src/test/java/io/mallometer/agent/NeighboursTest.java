package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Published;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the agent in one JVM with jmx_exporter, which uses the project's rules, and with an
 * application that has older versions of JNA, Micrometer and simpleclient.
 */
@Tag("process")
@Tag("any-jdk")
class NeighboursTest {

  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Path RULES =
      Path.of("../../dashboards/jmx_exporter/mallometer.yml").toAbsolutePath().normalize();

  /**
   * The name of the histogram's buckets. jmx_exporter removes some suffixes of names, so it
   * publishes the buckets as {@link #BUCKET_IN_JMX}.
   */
  private static final String BUCKET = "native_malloc_request_size_bytes_bucket";

  private static final String BUCKET_IN_JMX = "native_malloc_request_size_bytes_total";

  private static final Set<String> NOT_IN_JMX =
      Set.of("native_malloc_request_size_bytes_count", "native_malloc_request_size_bytes_sum");

  @TempDir private Path directory;

  @Test
  void everybodyHasTheirOwnVersionsAndJmxExporterTheSameSeries() throws Exception {
    int ours = AgentTest.freePort();
    int theirs = AgentTest.freePort();
    Path output = directory.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "-javaagent:" + System.getProperty("agent.jar") + "=port=" + ours,
            "-javaagent:%s/other-jars/jmx_prometheus_javaagent.jar=127.0.0.1:%d:%s"
                .formatted(TARGET, theirs, RULES),
            "-cp",
            TARGET + "/test-classes:" + TARGET + "/other-jars/*",
            OlderLibraries.class.getName(),
            "http://127.0.0.1:" + ours + "/nativememory/sites?limit=1",
            "http://127.0.0.1:" + ours + "/metrics",
            "http://127.0.0.1:" + theirs + "/metrics");
    builder.environment().put("LD_PRELOAD", System.getProperty("library"));
    builder.environment().put("XDG_CACHE_HOME", directory.resolve("cache").toString());
    builder.environment().put("OTEL_RESOURCE_ATTRIBUTES", "service.version=2.3.1");
    Process application = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    if (!application.waitFor(60, TimeUnit.SECONDS)) {
      application.destroyForcibly().waitFor();
    }
    String said = Files.readString(output, StandardCharsets.UTF_8);

    assertThat(said)
        .contains("pid is right=true", "jna=5.5.0", "micrometer=AppClassLoader")
        .contains("ours in the application's registry=false", "main ends")
        .contains("\"reason\":\"\"")
        .containsOnlyOnce("mallometer: ");
    int ofJmx = said.indexOf("# HELP", said.indexOf("native_malloc_request_size_bytes_sum"));
    Set<String> expected = series(said.substring(said.indexOf("# HELP"), ofJmx));
    assertThat(expected)
        .hasSizeGreaterThan(60)
        .contains("mallometer_active{}", "mallometer_application{version=2.3.1}")
        .contains(BUCKET_IN_JMX + "{le=+Inf}");
    assertThat(series(said.substring(ofJmx, said.indexOf("beans=")))).containsAll(expected);
  }

  /**
   * Returns the names and labels of the series, without the names of call sites and libraries,
   * which depend on the load.
   */
  private static Set<String> series(String exposition) {
    Set<String> series = new TreeSet<>();
    for (Published sample : Published.parse(exposition)) {
      String name =
          sample.name().equals(BUCKET) ? BUCKET_IN_JMX : sample.name().replaceFirst("_info$", "");
      if (name.matches("(native|cgroup|mallometer)_.*") && !NOT_IN_JMX.contains(name)) {
        boolean changing =
            !Collections.disjoint(sample.labels().keySet(), Set.of("site", "library"));
        series.add(name + (changing ? sample.labels().keySet() : sample.labels()));
      }
    }
    return series;
  }
}
