package io.mallometer.prometheus;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.Published;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SimpleclientContractTest extends FaceContract {

  @Override
  protected Face open(Mallometer mallometer, Map<String, String> commonLabels) {
    CollectorRegistry registry = new CollectorRegistry();
    NativeMemoryCollector collector = new NativeMemoryCollector(mallometer, commonLabels);
    registry.register(collector);
    return new Face() {
      @Override
      public List<Published> shown() {
        return Published.parse(text(registry));
      }

      @Override
      public void close() {
        registry.unregister(collector);
      }
    };
  }

  /** The type {@code info} exists in OpenMetrics, but not in Prometheus' text format. */
  @Test
  void typesInOpenMetricsAreThoseOfMicrometer() throws IOException {
    FakeMallometer mallometer = new FakeMallometer(counters(true, 40_000), selfReport());
    mallometer.setApplicationVersion("2.3.1");
    mallometer.poll();
    CollectorRegistry registry = new CollectorRegistry();
    registry.register(new NativeMemoryCollector(mallometer));
    StringWriter text = new StringWriter();
    TextFormat.writeOpenMetrics100(text, registry.metricFamilySamples());
    PrometheusMeterRegistry micrometer = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new NativeMemoryMetrics(mallometer).bindTo(micrometer);
    RequestSizeHistogram.register(mallometer, micrometer.getPrometheusRegistry(), Map.of());

    assertThat(types(text.toString()))
        .contains("# TYPE mallometer_build info", "# TYPE mallometer_application info")
        .containsExactlyInAnyOrderElementsOf(
            types(micrometer.scrape(TextFormat.CONTENT_TYPE_OPENMETRICS_100)));
  }

  private static List<String> types(String exposition) {
    return exposition.lines().filter(line -> line.startsWith("# TYPE ")).toList();
  }

  static String text(CollectorRegistry registry) {
    StringWriter text = new StringWriter();
    try {
      TextFormat.write004(text, registry.metricFamilySamples());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }
}
