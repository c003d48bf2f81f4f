package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.mallometer.prometheus.RequestSizeHistogram;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.NamingConvention;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The histogram of request sizes in every Prometheus registry of this context, and in those that a
 * composite registry of this context is given later: it looks for them after each poll.
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

  /** By registry, also those that refused theirs or whose filters deny it. Guarded by this. */
  private final Map<PrometheusMeterRegistry, Optional<RequestSizeHistogram>> histograms =
      new HashMap<>();

  private List<MeterRegistry> ownRegistries = List.of();
  private Mallometer.@Nullable Subscription subscription;

  RequestSizes(Mallometer mallometer, NativeMemoryMetrics metrics, ListableBeanFactory beans) {
    this.mallometer = mallometer;
    this.metrics = metrics;
    this.beans = beans;
  }

  /** Runs when every registry has its filters. */
  @Override
  public synchronized void afterSingletonsInstantiated() {
    ownRegistries = List.copyOf(beans.getBeansOfType(MeterRegistry.class).values());
    subscription = mallometer.onPoll(snapshot -> publishInAll());
    publishInAll();
  }

  private synchronized void publishInAll() {
    if (subscription != null) {
      ownRegistries.forEach(this::publishIn);
    }
  }

  private void publishIn(MeterRegistry registry) {
    if (registry instanceof CompositeMeterRegistry composite) {
      composite.getRegistries().forEach(this::publishIn);
    } else if (registry instanceof PrometheusMeterRegistry prometheus
        && !histograms.containsKey(prometheus)) {
      histograms.put(prometheus, publish(prometheus));
    }
  }

  private Optional<RequestSizeHistogram> publish(PrometheusMeterRegistry registry) {
    try {
      return metrics.requestSizeId(registry).map(id -> register(registry, id));
    } catch (RuntimeException | LinkageError e) {
      logger.warn("The sizes of native allocations are not published in " + registry, e);
      return Optional.empty();
    }
  }

  private RequestSizeHistogram register(PrometheusMeterRegistry registry, Meter.Id id) {
    NamingConvention convention = registry.config().namingConvention();
    Map<String, String> labels = new LinkedHashMap<>();
    for (Tag tag : id.getConventionTags(convention)) {
      labels.put(tag.getKey(), tag.getValue());
    }
    return RequestSizeHistogram.register(
        mallometer, registry.getPrometheusRegistry(), id.getConventionName(convention), labels);
  }

  @Override
  public synchronized void close() {
    if (subscription != null) {
      subscription.close();
      subscription = null;
    }
    histograms.values().forEach(histogram -> histogram.ifPresent(RequestSizeHistogram::close));
    histograms.clear();
  }
}
