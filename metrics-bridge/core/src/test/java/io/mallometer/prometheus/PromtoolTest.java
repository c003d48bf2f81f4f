package io.mallometer.prometheus;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.Promtool;
import io.mallometer.PublicNames;
import io.mallometer.SitesByHand;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.client.CollectorRegistry;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("process")
@Tag("any-jdk")
class PromtoolTest {

  @BeforeAll
  static void promtoolIsThere() {
    Promtool.assumeIsThere();
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

      assertThat(Promtool.complaints(SimpleclientContractTest.text(registry))).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("statuses")
  void micrometersScrapeIsClean(Status status) throws Exception {
    try (Mallometer mallometer = open(status)) {
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      new NativeMemoryMetrics(mallometer).bindTo(registry);
      RequestSizeHistogram.register(mallometer, registry.getPrometheusRegistry(), Map.of());

      assertThat(Promtool.complaints(registry.scrape())).isEmpty();
    }
  }

  /** promtool does not check the values of labels. */
  @Test
  void labelValuesHaveUnderscores() {
    for (String section : List.of("series", "series of the starter", "series of the agent")) {
      assertThat(PublicNames.names(section)).noneMatch(name -> name.matches(".*=\"[^\"]*-.*"));
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
}
