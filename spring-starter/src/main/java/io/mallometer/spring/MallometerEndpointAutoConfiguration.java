package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The Actuator endpoint {@code nativememory}, where it is exposed. */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnClass(
    name =
        "org.springframework.boot.actuate.autoconfigure.endpoint.condition"
            + ".ConditionalOnAvailableEndpoint")
@ConditionalOnBean(Mallometer.class)
public final class MallometerEndpointAutoConfiguration {

  @Bean
  @ConditionalOnAvailableEndpoint
  @ConditionalOnMissingBean
  NativeMemoryEndpoint nativeMemoryEndpoint(Mallometer mallometer) {
    return new NativeMemoryEndpoint(mallometer);
  }

  @Bean
  @ConditionalOnBean(NativeMemoryEndpoint.class)
  @ConditionalOnMissingBean
  NativeMemoryEndpointWebExtension nativeMemoryEndpointWebExtension(NativeMemoryEndpoint endpoint) {
    return new NativeMemoryEndpointWebExtension(endpoint);
  }
}
