package io.mallometer.micrometer;

import io.mallometer.FaceContract;
import io.mallometer.Mallometer;
import io.mallometer.Published;
import io.mallometer.prometheus.RequestSizeHistogram;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Map;

class MicrometerContractTest extends FaceContract {

  @Override
  protected Face open(Mallometer mallometer, Map<String, String> commonLabels) {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry.config().commonTags(tags(commonLabels));
    NativeMemoryMetrics metrics = new NativeMemoryMetrics(mallometer);
    metrics.bindTo(registry);
    RequestSizeHistogram histogram =
        RequestSizeHistogram.register(
            mallometer,
            registry.getPrometheusRegistry(),
            commonTags(metrics.requestSizeId(registry).orElseThrow().getTags()));
    return new Face() {
      @Override
      public List<Published> shown() {
        return Published.parse(registry.scrape());
      }

      @Override
      public void close() {
        histogram.close();
        metrics.close();
      }
    };
  }

  private static List<Tag> tags(Map<String, String> labels) {
    return labels.entrySet().stream().map(e -> Tag.of(e.getKey(), e.getValue())).toList();
  }

  private static Map<String, String> commonTags(List<Tag> tags) {
    return tags.stream().collect(java.util.stream.Collectors.toMap(Tag::getKey, Tag::getValue));
  }
}
