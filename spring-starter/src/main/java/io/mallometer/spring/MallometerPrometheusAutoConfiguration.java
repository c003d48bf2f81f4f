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
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Configures the histogram of request sizes for Prometheus registries.
 *
 * <p>The condition searches only the current context. A child context with its own registry
 * therefore gets its own bean. The bean is not initialized lazily, because no other bean requests
 * it.
 */
@AutoConfiguration(
    after = MallometerMetricsAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics.export.prometheus"
          + ".PrometheusMetricsExportAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.export.prometheus"
          + ".PrometheusMetricsExportAutoConfiguration"
    })
@ConditionalOnClass(name = "io.micrometer.prometheusmetrics.PrometheusMeterRegistry")
@ConditionalOnBean({NativeMemoryMetrics.class, MeterRegistry.class})
public final class MallometerPrometheusAutoConfiguration {

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  RequestSizes nativeMemoryRequestSizes(
      Mallometer mallometer, NativeMemoryMetrics metrics, ListableBeanFactory beans) {
    return new RequestSizes(mallometer, metrics, beans);
  }

  /**
   * Registers the histogram of request sizes in every Prometheus registry of this context. Looks
   * for new registries after each poll, because a composite registry may receive one at any time.
   *
   * <p>Micrometer cannot publish a histogram that is counted elsewhere, so the histogram is
   * registered with Prometheus' client. The meter filters of the registry still apply to its name
   * and tags.
   */
  static final class RequestSizes implements SmartInitializingSingleton, AutoCloseable {

    private static final Log logger = LogFactory.getLog(RequestSizes.class);

    private final Mallometer mallometer;
    private final NativeMemoryMetrics metrics;
    private final ListableBeanFactory beans;

    /**
     * The histograms by registry. The value is empty if a filter denies the histogram or its
     * registration failed. Guarded by this.
     */
    private final Map<PrometheusMeterRegistry, Optional<RequestSizeHistogram>> histograms =
        new HashMap<>();

    private List<MeterRegistry> ownRegistries = List.of();
    private Mallometer.@Nullable Subscription subscription;

    RequestSizes(Mallometer mallometer, NativeMemoryMetrics metrics, ListableBeanFactory beans) {
      this.mallometer = mallometer;
      this.metrics = metrics;
      this.beans = beans;
    }

    /**
     * Registers the histogram after all beans exist. Before that, the registries may lack their
     * filters.
     */
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
}
