package io.mallometer.prometheus;

import io.mallometer.FaceContract;
import io.mallometer.Mallometer;
import io.mallometer.Published;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

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
