package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.autoconfigure.info.InfoContributorFallback;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Configures the info contributor {@code nativeMemory}. It is off by default, like Spring Boot's
 * own contributors about the process.
 */
@AutoConfiguration(after = MallometerAutoConfiguration.class)
@ConditionalOnClass(
    name =
        "org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor")
@ConditionalOnBean(Mallometer.class)
public final class MallometerInfoAutoConfiguration {

  @Bean
  @ConditionalOnEnabledInfoContributor(
      value = "nativememory",
      fallback = InfoContributorFallback.DISABLE)
  @ConditionalOnMissingBean(name = "nativeMemoryInfoContributor")
  InfoContributor nativeMemoryInfoContributor(Mallometer mallometer) {
    return info -> info.withDetail("nativeMemory", NativeMemoryDetails.info(mallometer.snapshot()));
  }
}
