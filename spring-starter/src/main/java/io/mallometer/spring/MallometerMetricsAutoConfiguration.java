package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Configures the Micrometer meters of native memory. Spring Boot binds them to every meter
 * registry.
 */
@AutoConfiguration(
    after = MallometerAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics"
          + ".CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure"
          + ".CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(name = "io.micrometer.core.instrument.binder.MeterBinder")
@ConditionalOnBean(Mallometer.class)
@ConditionalOnEnabledProperty("mallometer.metrics.enabled")
public final class MallometerMetricsAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  NativeMemoryMetrics nativeMemoryMetrics(Mallometer mallometer) {
    return new NativeMemoryMetrics(mallometer);
  }
}
