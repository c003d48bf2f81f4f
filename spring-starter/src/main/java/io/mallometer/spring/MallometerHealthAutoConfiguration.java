package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;

/** The health contributor {@code nativeMemory}, where Spring Boot 4.x has health. */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnClass(
    name = {
      "org.springframework.boot.health.contributor.HealthIndicator",
      "org.springframework.boot.health.autoconfigure.contributor"
          + ".ConditionalOnEnabledHealthIndicator"
    })
@ConditionalOnBean(Mallometer.class)
public final class MallometerHealthAutoConfiguration {

  @Bean
  @ConditionalOnEnabledHealthIndicator("nativememory")
  @ConditionalOnMissingBean(
      value = NativeMemoryHealthIndicator.class,
      name = "nativeMemoryHealthIndicator")
  NativeMemoryHealthIndicator nativeMemoryHealthIndicator(Mallometer mallometer) {
    return new NativeMemoryHealthIndicator(mallometer);
  }
}
