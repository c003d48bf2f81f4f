package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Configures the measurement of native memory per HTTP route, scheduled task and method, if it is
 * enabled. Without the Actuator, only methods are measured.
 */
@AutoConfiguration(
    after = MallometerMetricsAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics"
          + ".CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure"
          + ".CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(
    name = {
      "io.micrometer.core.instrument.MeterRegistry",
      "io.micrometer.observation.ObservationHandler"
    })
@ConditionalOnBean({Mallometer.class, MallometerOptions.class, MeterRegistry.class})
@ConditionalOnEnabledProperty("mallometer.scopes.enabled")
public final class MallometerScopesAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  NativeScopeMeters nativeScopeMeters(
      Mallometer mallometer, MeterRegistry registry, MallometerOptions options) {
    return new NativeScopeMeters(mallometer, registry, options.get(Setting.MAX_SCOPES));
  }

  @Bean
  @ConditionalOnMissingBean
  NativeScopeObservationHandler nativeScopeObservationHandler(NativeScopeMeters meters) {
    return new NativeScopeObservationHandler(meters);
  }

  @Bean
  @ConditionalOnMissingBean
  static NativeScopePostProcessor nativeScopePostProcessor(
      ObjectProvider<NativeScopeMeters> meters) {
    return new NativeScopePostProcessor(meters::getIfAvailable);
  }
}
