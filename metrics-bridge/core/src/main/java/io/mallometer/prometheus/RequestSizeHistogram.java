package io.mallometer.prometheus;

import io.mallometer.Mallometer;
import io.mallometer.meter.Meter;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SizeDistribution;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Map;

/**
 * The histogram {@code native_malloc_request_size_bytes} for Prometheus' client 1.x, which
 * Micrometer and Spring Boot use.
 *
 * <p>Its buckets are the classes of {@link SizeDistribution}, and its sum is the requested bytes.
 * It has no samples while mallometer does not count. The histogram is not registered with
 * Micrometer, so Micrometer adds no common tags to it; callers must pass them.
 */
public final class RequestSizeHistogram implements MultiCollector, AutoCloseable {

  /** The name in Prometheus, unless a filter renames it. */
  public static final String NAME = Meter.REQUEST_SIZE.replace('.', '_') + "_bytes";

  private final Mallometer mallometer;
  private final PrometheusRegistry registry;
  private final String name;
  private final Labels labels;

  private RequestSizeHistogram(
      Mallometer mallometer, PrometheusRegistry registry, String name, Map<String, String> labels) {
    this.mallometer = mallometer;
    this.registry = registry;
    this.name = name;
    this.labels =
        Labels.of(labels.keySet().toArray(String[]::new), labels.values().toArray(String[]::new));
  }

  /**
   * Registers the histogram under {@link #NAME}.
   *
   * @param labels common labels; Prometheus must allow their names
   */
  public static RequestSizeHistogram register(
      Mallometer mallometer, PrometheusRegistry registry, Map<String, String> labels) {
    return register(mallometer, registry, NAME, labels);
  }

  /** Registers the histogram under another name, which Prometheus must allow. */
  public static RequestSizeHistogram register(
      Mallometer mallometer, PrometheusRegistry registry, String name, Map<String, String> labels) {
    RequestSizeHistogram histogram = new RequestSizeHistogram(mallometer, registry, name, labels);
    registry.register(histogram);
    return histogram;
  }

  /** Unregisters the histogram. A second call does nothing. */
  @Override
  public void close() {
    registry.unregister(this);
  }

  @Override
  public MetricSnapshots collect() {
    return mallometer
        .scraped()
        .process()
        .map(counters -> MetricSnapshots.of(histogram(counters)))
        .orElseGet(MetricSnapshots::of);
  }

  @Override
  public List<String> getPrometheusNames() {
    return List.of(name);
  }

  private HistogramSnapshot histogram(NativeCounters counters) {
    return HistogramSnapshot.builder()
        .name(name)
        .help(Meter.requestSizeDescription())
        .dataPoint(
            HistogramDataPointSnapshot.builder()
                .labels(labels)
                .classicHistogramBuckets(buckets(counters.allocationsBySize()))
                .sum(counters.requestedBytes())
                .build())
        .build();
  }

  private static ClassicHistogramBuckets buckets(SizeDistribution sizes) {
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      buckets.bucket(SizeDistribution.upperBound(i), sizes.count(i));
    }
    return buckets.build();
  }
}
