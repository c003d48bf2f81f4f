package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.autoconfigure.info.InfoContributorFallback;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * The info contributor {@code nativeMemory}. Off by default, as Spring Boot's own that tell about
 * the process are.
 */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnClass(
    name =
        "org.springframework.boot.actuate.autoconfigure.info"
            + ".ConditionalOnEnabledInfoContributor")
@ConditionalOnBean(Mallometer.class)
public final class MallometerInfoAutoConfiguration {

  @Bean
  @ConditionalOnEnabledInfoContributor(
      value = "nativememory",
      fallback = InfoContributorFallback.DISABLE)
  @ConditionalOnMissingBean
  NativeMemoryInfoContributor nativeMemoryInfoContributor(Mallometer mallometer) {
    return new NativeMemoryInfoContributor(mallometer);
  }
}
