package io.mallometer.agent.payload.otlp;

import io.mallometer.Mallometer;
import io.mallometer.meter.Meter;
import io.mallometer.model.Snapshot;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporterBuilder;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pushes the meters by OTLP over HTTP with OpenTelemetry's exporter, which does retries, gzip and
 * TLS. The units are those of UCUM, as OpenTelemetry demands.
 */
public final class OtlpMetrics {

  private static final Map<String, String> UNITS =
      Map.of("bytes", "By", "seconds", "s", "ratio", "1");

  private OtlpMetrics() {}

  /**
   * Begins to push.
   *
   * @param url the address of the receiver, with its path
   * @param headers the headers of each request
   * @param attributes the attributes of the resource, such as {@code service.name}
   * @param certificates a PEM file with the only trusted certificates; null for those of the JVM
   * @return a handle that ends the push
   * @throws IOException if the certificates cannot be read
   */
  public static AutoCloseable start(
      Mallometer mallometer,
      String url,
      Duration interval,
      Map<String, String> headers,
      Map<String, String> attributes,
      @Nullable Path certificates)
      throws IOException {
    OtlpHttpMetricExporterBuilder exporter = OtlpHttpMetricExporter.builder();
    exporter.setEndpoint(url).setCompression("gzip");
    headers.forEach(exporter::addHeader);
    if (certificates != null) {
      exporter.setTrustedCertificates(Files.readAllBytes(certificates));
    }
    AttributesBuilder resource = Attributes.builder();
    attributes.forEach(resource::put);
    SdkMeterProvider provider =
        SdkMeterProvider.builder()
            .setResource(Resource.getDefault().merge(Resource.create(resource.build())))
            .registerMetricReader(
                PeriodicMetricReader.builder(exporter.build()).setInterval(interval).build())
            .build();
    io.opentelemetry.api.metrics.Meter meter = provider.get("io.mallometer");
    for (Meter one : Meter.all()) {
      register(meter, one, mallometer);
    }
    return provider;
  }

  private static void register(
      io.opentelemetry.api.metrics.Meter meter, Meter one, Mallometer mallometer) {
    String unit = UNITS.getOrDefault(one.unit(), "1");
    if (one.type() == Meter.Type.COUNTER) {
      meter
          .counterBuilder(one.name())
          .ofDoubles()
          .setUnit(unit)
          .setDescription(one.description())
          .buildWithCallback(measurement -> observe(one, mallometer, measurement));
    } else {
      meter
          .gaugeBuilder(one.name())
          .setUnit(unit)
          .setDescription(one.description())
          .buildWithCallback(measurement -> observe(one, mallometer, measurement));
    }
  }

  private static void observe(
      Meter one, Mallometer mallometer, ObservableDoubleMeasurement measurement) {
    Snapshot snapshot = mallometer.scraped();
    for (Meter.Series series : one.series(snapshot)) {
      double value = series.figure().of(snapshot, mallometer.clock());
      if (!Double.isNaN(value)) {
        AttributesBuilder tags = Attributes.builder();
        series.tags().forEach(tag -> tags.put(tag.key(), tag.value()));
        measurement.record(value, tags.build());
      }
    }
  }
}
