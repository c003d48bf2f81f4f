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
 * Configures the distribution of request sizes for Prometheus registries.
 *
 * <p>A child context with a registry of its own has its own bean, because only the current context
 * is searched. The registry is searched later, as a composite registry may get one at any time. No
 * other bean needs this one, so lazy initialization does not apply to it.
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
