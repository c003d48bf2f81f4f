package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.agent.payload.http.Exchange;
import io.mallometer.agent.payload.http.Request;
import io.mallometer.prometheus.NativeMemoryCollector;
import io.mallometer.view.Answer.Outcome;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.zip.GZIPOutputStream;

/**
 * Answers {@code /metrics} in Prometheus' text format or in OpenMetrics, as the client accepts. Not
 * thread-safe.
 */
final class MetricsHandler {

  private final CollectorRegistry registry = new CollectorRegistry();

  MetricsHandler(Mallometer mallometer) {
    registry.register(new NativeMemoryCollector(mallometer));
    registry.register(new JvmCollector());
  }

  /**
   * Answers with the metrics. Does not wait for the client to receive the answer.
   *
   * @param names the names of the metrics to send; empty for all
   */
  void answer(Set<String> names, Exchange exchange) throws IOException {
    Request request = exchange.request();
    String type = TextFormat.chooseContentType(request.header("Accept"));
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    OutputStream out = body;
    if (Parameters.accepts(request)) {
      exchange.header("Content-Encoding", "gzip");
      out = new GZIPOutputStream(body);
    }
    try (Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8)) {
      TextFormat.writeFormat(type, writer, registry.filteredMetricFamilySamples(names));
    }
    exchange.header("Content-Type", type);
    exchange.answer(Outcome.OK.status(), body.toByteArray());
  }
}
