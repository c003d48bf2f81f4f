package io.mallometer.prometheus;

import io.mallometer.Mallometer;
import io.mallometer.meter.Meter;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.prometheus.client.Collector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * {@link Meter#all() All meters} and the histogram of request sizes for Prometheus' simpleclient.
 *
 * <pre>{@code
 * new NativeMemoryCollector(Mallometer.open()).register();
 * new HTTPServer.Builder().withHostname("127.0.0.1").withPort(9464).build();
 * }</pre>
 *
 * <p>All values of a scrape are from one snapshot.
 */
public final class NativeMemoryCollector extends Collector implements Collector.Describable {

  private static final String BYTES = "bytes";

  private static final String INFO = "_info";

  private final Mallometer mallometer;
  private final List<String> commonNames;
  private final List<String> commonValues;

  /** Creates a collector without common labels. */
  public NativeMemoryCollector(Mallometer mallometer) {
    this(mallometer, Map.of());
  }

  /** Creates a collector that adds {@code commonLabels} to every sample. */
  public NativeMemoryCollector(Mallometer mallometer, Map<String, String> commonLabels) {
    this.mallometer = mallometer;
    this.commonNames = List.copyOf(commonLabels.keySet());
    this.commonValues = commonNames.stream().map(commonLabels::get).toList();
  }

  @Override
  public List<MetricFamilySamples> collect() {
    Snapshot snapshot = mallometer.scraped();
    List<MetricFamilySamples> families = new ArrayList<>();
    for (Meter meter : Meter.all()) {
      List<Meter.Series> series = meter.series(snapshot);
      if (!series.isEmpty()) {
        families.add(family(meter, samples(meter, series, snapshot)));
      }
    }
    snapshot.process().ifPresent(counters -> families.add(histogram(buckets(counters))));
    return families;
  }

  /**
   * Returns all families, including those that have no samples now. A registry needs their names to
   * detect duplicates at registration.
   */
  @Override
  public List<MetricFamilySamples> describe() {
    List<MetricFamilySamples> families = new ArrayList<>();
    for (Meter meter : Meter.all()) {
      families.add(family(meter, List.of()));
    }
    families.add(histogram(List.of()));
    return families;
  }

  /** Returns the name that Micrometer would use, such as {@code native_malloc_live_bytes}. */
  private static String name(String meter, String unit) {
    String underscored = meter.replace('.', '_');
    return unit.isEmpty() ? underscored : underscored + "_" + unit;
  }

  private static MetricFamilySamples family(Meter meter, List<MetricFamilySamples.Sample> samples) {
    String name = name(meter.name(), meter.unit());
    boolean isInfo = name.endsWith(INFO);
    Type gaugeOrInfo = isInfo ? Type.INFO : Type.GAUGE;
    return new MetricFamilySamples(
        isInfo ? name.substring(0, name.length() - INFO.length()) : name,
        meter.unit(),
        meter.type() == Meter.Type.COUNTER ? Type.COUNTER : gaugeOrInfo,
        meter.description(),
        samples);
  }

  private List<MetricFamilySamples.Sample> samples(
      Meter meter, List<Meter.Series> series, Snapshot snapshot) {
    String name = name(meter.name(), meter.unit());
    String sampleName = meter.type() == Meter.Type.COUNTER ? name + "_total" : name;
    return series.stream()
        .map(one -> sample(sampleName, one.tags(), one.figure().of(snapshot, mallometer.clock())))
        .toList();
  }

  private static MetricFamilySamples histogram(List<MetricFamilySamples.Sample> samples) {
    return new MetricFamilySamples(
        name(Meter.REQUEST_SIZE, BYTES),
        BYTES,
        Type.HISTOGRAM,
        Meter.requestSizeDescription(),
        samples);
  }

  private List<MetricFamilySamples.Sample> buckets(NativeCounters counters) {
    String name = name(Meter.REQUEST_SIZE, BYTES);
    SizeDistribution sizes = counters.allocationsBySize();
    List<MetricFamilySamples.Sample> samples = new ArrayList<>();
    long cumulative = 0;
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      cumulative += sizes.count(i);
      String bound = doubleToGoString(SizeDistribution.upperBound(i));
      samples.add(sample(name + "_bucket", List.of(new Meter.Tag("le", bound)), cumulative));
    }
    samples.add(sample(name + "_count", List.of(), cumulative));
    samples.add(sample(name + "_sum", List.of(), counters.requestedBytes()));
    return samples;
  }

  private MetricFamilySamples.Sample sample(String name, List<Meter.Tag> tags, double value) {
    return new MetricFamilySamples.Sample(
        name,
        with(commonNames, tags, Meter.Tag::key),
        with(commonValues, tags, Meter.Tag::value),
        value);
  }

  private static List<String> with(
      List<String> common, List<Meter.Tag> tags, Function<Meter.Tag, String> part) {
    List<String> all = new ArrayList<>(common);
    tags.forEach(tag -> all.add(part.apply(tag)));
    return all;
  }
}
