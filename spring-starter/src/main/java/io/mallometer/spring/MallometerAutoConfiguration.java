package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.MallometerOptions;
import io.mallometer.push.ProfilePush;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.info.BuildProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Beans of every application: the facade, the MBeans, events in recordings, an event for each huge
 * request and each leak, and the attach where the application was started without the native
 * library. Automatic trims where they are asked for.
 *
 * <p>All but the facade are there for people outside the application, so they exist also where
 * beans are created lazily.
 */
@AutoConfiguration
@ConditionalOnEnabledProperty("mallometer.enabled")
@EnableConfigurationProperties(MallometerProperties.class)
@ImportRuntimeHints(NativeMemoryRuntimeHints.class)
public final class MallometerAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  Mallometer mallometer(
      MallometerProperties properties, BeanFactory beans, Environment environment) {
    MallometerOptions options = properties.options(scannedPackages(beans));
    Mallometer mallometer =
        Mallometer.open(
            applicationVersion(environment, beans)
                .map(options::withApplicationVersion)
                .orElse(options));
    mallometer.starting(true);
    return mallometer;
  }

  /** Growth counts from the end of the first refresh on. */
  @Bean
  @Lazy(false)
  ApplicationListener<ContextRefreshedEvent> mallometerStarted(
      Mallometer mallometer, ApplicationContext context) {
    return refreshed -> {
      // Contexts below this one pass their events on.
      if (refreshed.getApplicationContext() == context) {
        mallometer.starting(false);
      }
    };
  }

  /** Where Spring Boot looks for the application's components; empty if it does not look. */
  static List<String> scannedPackages(BeanFactory beans) {
    return AutoConfigurationPackages.has(beans) ? AutoConfigurationPackages.get(beans) : List.of();
  }

  /**
   * What Spring Boot reads from the manifest, unless somebody sets the property; or else what the
   * build wrote into META-INF/build-info.properties.
   */
  static Optional<String> applicationVersion(Environment environment, BeanFactory beans) {
    return Optional.ofNullable(environment.getProperty("spring.application.version"))
        .filter(StringUtils::hasText)
        .or(
            () ->
                Optional.ofNullable(beans.getBeanProvider(BuildProperties.class).getIfUnique())
                    .map(BuildProperties::getVersion));
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
  @ConditionalOnMissingBean
  @ConditionalOnEnabledProperty("mallometer.jfr.enabled")
  NativeMemoryEvents nativeMemoryEvents(Mallometer mallometer) {
    return NativeMemoryEvents.register(mallometer);
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  EventPublisher mallometerEvents(Mallometer mallometer, ApplicationEventPublisher events) {
    return new EventPublisher(mallometer, events);
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  @ConditionalOnProperty("mallometer.trim.interval")
  @Nullable AutomaticTrims automaticTrims(Mallometer mallometer, MallometerProperties properties) {
    return properties.automaticTrims(mallometer);
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  StartedMonitors mallometerMonitors(Mallometer mallometer, MallometerProperties properties) {
    return new StartedMonitors(mallometer, properties.monitors());
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  @ConditionalOnProperty("mallometer.push.url")
  @Nullable ProfilePush profilePush(
      Mallometer mallometer, MallometerProperties properties, Environment environment) {
    if (!properties.pushes()) {
      return null;
    }
    String service = environment.getProperty("spring.application.name", "");
    ProfilePush push =
        ProfilePush.start(
            mallometer, properties.pushOptions(service.isEmpty() ? "application" : service));
    Checkpoints.around(push::pause, push::resume);
    return push;
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(value = AttachAfterRefresh.class, name = "mallometerAttach")
  AttachAfterRefresh mallometerAttach(Mallometer mallometer, ApplicationContext context) {
    return new AttachAfterRefresh(mallometer, AttachSetting.of(context.getEnvironment()), context);
  }
}
