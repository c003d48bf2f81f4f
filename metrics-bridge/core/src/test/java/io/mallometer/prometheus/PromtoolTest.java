package io.mallometer.prometheus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.SitesByHand;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.client.CollectorRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Prometheus' own linter has nothing to say about either scrape. */
@Tag("process")
@Tag("any-jdk")
class PromtoolTest {

  @BeforeAll
  static void promtoolIsThere() throws Exception {
    boolean there;
    try {
      there = new ProcessBuilder("promtool", "--version").start().waitFor() == 0;
    } catch (IOException e) {
      there = false;
    }
    if ("true".equals(System.getenv("REQUIRE_PROMTOOL"))) {
      assertThat(there).as("promtool, of Debian's package prometheus, is on the PATH").isTrue();
    }
    assumeTrue(there, "promtool is not on the PATH; it is in Debian's package prometheus");
  }

  static Stream<Status> statuses() {
    return Stream.of(
        Status.counting(),
        new Status(State.DISABLED, "switched off", ""),
        new Status(State.UNAVAILABLE, "not preloaded", ""));
  }

  @ParameterizedTest
  @MethodSource("statuses")
  void simpleclientsScrapeIsClean(Status status) throws Exception {
    try (Mallometer mallometer = open(status)) {
      CollectorRegistry registry = new CollectorRegistry();
      registry.register(new NativeMemoryCollector(mallometer));

      assertThat(complaints(SimpleclientContractTest.text(registry))).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("statuses")
  void micrometersScrapeIsClean(Status status) throws Exception {
    try (Mallometer mallometer = open(status)) {
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      new NativeMemoryMetrics(mallometer).bindTo(registry);
      RequestSizeHistogram.register(mallometer, registry.getPrometheusRegistry(), Map.of());

      assertThat(complaints(registry.scrape())).isEmpty();
    }
  }

  private static Mallometer open(Status status) {
    FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, 40_000), FaceContract.selfReport());
    mallometer.setStatus(status);
    mallometer.setSites(SitesByHand.three());
    mallometer.sites().read();
    mallometer.poll();
    return mallometer;
  }

  /** Everything that promtool prints; its exit code is in the first line if it is not 0. */
  private static String complaints(String exposition) throws Exception {
    Process promtool =
        new ProcessBuilder("promtool", "check", "metrics").redirectErrorStream(true).start();
    promtool.getOutputStream().write(exposition.getBytes(StandardCharsets.UTF_8));
    promtool.getOutputStream().close();
    String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exitCode = promtool.waitFor();
    return exitCode == 0 ? output : "exit code " + exitCode + "\n" + output;
  }
}
