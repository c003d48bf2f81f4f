package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * The distribution of request sizes, where meters go to Prometheus.
 *
 * <p>A child context with a registry of its own needs its own: only the current context is
 * searched. Whether there is a registry for Prometheus shows only later, as a composite one may be
 * given it at any time. Nobody asks for this bean, so it exists also where beans are created
 * lazily.
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
}
