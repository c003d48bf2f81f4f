package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.jmx.NativeMemoryMBeans;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * What every application gets: the facade, the MBean, and, without the native library, the advice
 * how to start with it.
 *
 * <p>The MBean and the advice are there for people outside the application, so they exist also
 * where beans are created lazily.
 */
@AutoConfiguration
@ConditionalOnEnabledProperty("mallometer.enabled")
@EnableConfigurationProperties(MallometerProperties.class)
public final class MallometerAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  Mallometer mallometer(MallometerProperties properties) {
    return Mallometer.open(properties.options());
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  @ConditionalOnEnabledProperty("mallometer.jmx.enabled")
  NativeMemoryMBeans nativeMemoryMBeans(Mallometer mallometer) {
    return NativeMemoryMBeans.register(mallometer);
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(name = "mallometerPreloadAdvice")
  PreloadAdvice mallometerPreloadAdvice(Mallometer mallometer) {
    return new PreloadAdvice(mallometer.status());
  }
}
