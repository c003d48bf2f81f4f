package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Published;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent beside what others bring: an application's older JNA, Micrometer and simpleclient, and
 * the real jmx_exporter with our rules. One JVM has it all.
 */
class NeighboursTest {

  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Path RULES =
      Path.of("../../dashboards/jmx_exporter/mallometer.yml").toAbsolutePath().normalize();

  /** What the rules cannot reach; the file says so. */
  private static final Set<String> NOT_IN_JMX =
      Set.of(
          "mallometer_build",
          "mallometer_state",
          "native_malloc_request_size_bytes_bucket",
          "native_malloc_request_size_bytes_count",
          "native_malloc_request_size_bytes_sum");

  @TempDir private Path directory;

  @Test
  void everybodyHasTheirOwnVersionsAndJmxExporterTheSameNames() throws Exception {
    int ours = freePort();
    int theirs = freePort();
    Path output = directory.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-javaagent:" + System.getProperty("agent.jar") + "=port=" + ours,
            "-javaagent:%s/other-jars/jmx_prometheus_javaagent.jar=127.0.0.1:%d:%s"
                .formatted(TARGET, theirs, RULES),
            "-cp",
            TARGET + "/test-classes:" + TARGET + "/other-jars/*",
            OlderLibraries.class.getName(),
            "http://127.0.0.1:" + ours + "/sites?limit=1",
            "http://127.0.0.1:" + ours + "/metrics",
            "http://127.0.0.1:" + theirs + "/metrics");
    builder.environment().put("LD_PRELOAD", System.getProperty("library"));
    builder.environment().put("XDG_CACHE_HOME", directory.resolve("cache").toString());
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
    Set<String> expected = names(said.substring(said.indexOf("# HELP"), ofJmx));
    expected.removeAll(NOT_IN_JMX);
    assertThat(expected).hasSizeGreaterThan(25);
    assertThat(names(said.substring(ofJmx, said.indexOf("beans=")))).containsAll(expected);
  }

  private static Set<String> names(String exposition) {
    Set<String> names = new TreeSet<>();
    Published.parse(exposition).stream()
        .map(Published::name)
        .filter(name -> name.matches("(native|cgroup|mallometer)_.*"))
        .forEach(names::add);
    return names;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
