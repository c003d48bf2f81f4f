package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.agent.payload.http.Exchange;
import io.mallometer.agent.payload.http.Request;
import io.mallometer.prometheus.NativeMemoryCollector;
import io.mallometer.view.Answer.Outcome;
import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * What {@code /metrics} answers: Prometheus' text, or OpenMetrics, as the client accepts. The whole
 * is written once a second however many ask, so that what they cost does not grow with them, and
 * all who are slow to take it share its bytes. For one thread.
 */
final class Scrapes {

  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final CollectorRegistry registry = new CollectorRegistry();

  /** By media type, and whether it is zipped. */
  private final Map<String, byte[]> written = new HashMap<>();

  private long writtenAt;

  Scrapes(Mallometer mallometer) {
    registry.register(new NativeMemoryCollector(mallometer));
    registry.register(new JvmCollector());
  }

  /**
   * Answers, and waits for no client.
   *
   * @param names the series that are wanted; none for all
   */
  void answer(Set<String> names, Exchange exchange) throws IOException {
    Request request = exchange.request();
    @Nullable String accepted = request.header("Accept");
    String type = TextFormat.chooseContentType(accepted);
    boolean zipped = Parameters.accepts(request);
    byte[] body =
        names.isEmpty()
            ? whole(type, zipped)
            : written(type, zipped, registry.filteredMetricFamilySamples(names));
    exchange.header("Content-Type", type);
    if (zipped) {
      exchange.header("Content-Encoding", "gzip");
    }
    exchange.answer(Outcome.OK.status(), body);
  }

  private byte[] whole(String type, boolean zipped) throws IOException {
    long now = System.nanoTime();
    if (now - writtenAt >= FRESH_NANOS) {
      written.clear();
      writtenAt = now;
    }
    String key = type + zipped;
    byte @Nullable [] known = written.get(key);
    if (known == null) {
      known = written(type, zipped, registry.metricFamilySamples());
      written.put(key, known);
    }
    return known;
  }

  private static byte[] written(
      String type, boolean zipped, Enumeration<MetricFamilySamples> families) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Writer writer =
        new OutputStreamWriter(
            zipped ? new GZIPOutputStream(bytes) : bytes, StandardCharsets.UTF_8)) {
      TextFormat.writeFormat(type, writer, families);
    }
    return bytes.toByteArray();
  }
}
