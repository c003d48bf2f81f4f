package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The health contributor {@code nativeMemory}, where Spring Boot 3.5 has health. */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnClass(
    name = {
      "org.springframework.boot.actuate.health.HealthIndicator",
      "org.springframework.boot.actuate.autoconfigure.health"
          + ".ConditionalOnEnabledHealthIndicator"
    })
@ConditionalOnBean(Mallometer.class)
public final class MallometerActuatorHealthAutoConfiguration {

  @Bean
  @ConditionalOnEnabledHealthIndicator("nativememory")
  @ConditionalOnMissingBean(
      value = ActuatorNativeMemoryHealthIndicator.class,
      name = "nativeMemoryHealthIndicator")
  ActuatorNativeMemoryHealthIndicator nativeMemoryHealthIndicator(Mallometer mallometer) {
    return new ActuatorNativeMemoryHealthIndicator(mallometer);
  }
}
