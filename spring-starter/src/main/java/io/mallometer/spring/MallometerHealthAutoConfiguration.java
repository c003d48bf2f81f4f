package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configures the health contributor {@code nativeMemory}. Its status is up while native memory is
 * counted, otherwise unknown, and never down.
 */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnBean(Mallometer.class)
public final class MallometerHealthAutoConfiguration {

  private static Map<String, Object> details(Mallometer mallometer) {
    return NativeMemoryDetails.health(mallometer.snapshot());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      name = {
        "org.springframework.boot.health.contributor.HealthIndicator",
        "org.springframework.boot.health.autoconfigure.contributor"
            + ".ConditionalOnEnabledHealthIndicator"
      })
  static class Contributor {

    @Bean
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator(
        "nativememory")
    @ConditionalOnMissingBean(name = "nativeMemoryHealthIndicator")
    org.springframework.boot.health.contributor.HealthIndicator nativeMemoryHealthIndicator(
        Mallometer mallometer) {
      return () ->
          (mallometer.status().active()
                  ? org.springframework.boot.health.contributor.Health.up()
                  : org.springframework.boot.health.contributor.Health.unknown())
              .withDetails(details(mallometer))
              .build();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      name = {
        "org.springframework.boot.actuate.health.HealthIndicator",
        "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
      })
  static class ActuatorContributor {

    @Bean
    @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
        "nativememory")
    @ConditionalOnMissingBean(name = "nativeMemoryHealthIndicator")
    org.springframework.boot.actuate.health.HealthIndicator nativeMemoryHealthIndicator(
        Mallometer mallometer) {
      return () ->
          (mallometer.status().active()
                  ? org.springframework.boot.actuate.health.Health.up()
                  : org.springframework.boot.actuate.health.Health.unknown())
              .withDetails(details(mallometer))
              .build();
    }
  }
}
