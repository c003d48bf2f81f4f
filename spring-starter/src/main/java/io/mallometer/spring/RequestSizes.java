package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.mallometer.prometheus.RequestSizeHistogram;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.config.NamingConvention;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The histogram of request sizes in every Prometheus registry of this context.
 *
 * <p>Micrometer cannot carry a histogram that somebody else counted, so it goes in beside
 * Micrometer. It asks the meter registry what its filters would make of such a meter, and takes
 * name and tags from the answer: common tags, renaming and denying work as for any other meter,
 * whether they come from properties, from filter beans or from code.
 */
final class RequestSizes implements SmartInitializingSingleton, AutoCloseable {

  private static final Log logger = LogFactory.getLog(RequestSizes.class);

  private final Mallometer mallometer;
  private final NativeMemoryMetrics metrics;
  private final ListableBeanFactory beans;
  private final List<RequestSizeHistogram> histograms = new ArrayList<>();

  RequestSizes(Mallometer mallometer, NativeMemoryMetrics metrics, ListableBeanFactory beans) {
    this.mallometer = mallometer;
    this.metrics = metrics;
    this.beans = beans;
  }

  /** By now every registry has its filters. */
  @Override
  public void afterSingletonsInstantiated() {
    beans.getBeansOfType(PrometheusMeterRegistry.class).values().forEach(this::publish);
  }

  private void publish(PrometheusMeterRegistry registry) {
    try {
      metrics.requestSizeId(registry).ifPresent(id -> register(registry, id));
    } catch (RuntimeException | LinkageError e) {
      logger.warn("The sizes of native allocations are not published in " + registry, e);
    }
  }

  private void register(PrometheusMeterRegistry registry, Meter.Id id) {
    NamingConvention convention = registry.config().namingConvention();
    Map<String, String> labels = new LinkedHashMap<>();
    for (Tag tag : id.getConventionTags(convention)) {
      labels.put(tag.getKey(), tag.getValue());
    }
    histograms.add(
        RequestSizeHistogram.register(
            mallometer,
            registry.getPrometheusRegistry(),
            id.getConventionName(convention),
            labels));
  }

  @Override
  public void close() {
    histograms.forEach(RequestSizeHistogram::close);
    histograms.clear();
  }
}
