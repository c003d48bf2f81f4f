package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.Setting;
import io.mallometer.push.ProfilePush;
import io.mallometer.push.PushOptions;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.ssl.SslBundles;
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
@ImportRuntimeHints(NativeMemoryRuntimeHints.class)
public final class MallometerAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  MallometerOptions mallometerOptions(Environment environment, BeanFactory beans) {
    MallometerOptions options = ApplicationSettings.of(environment);
    if (options.get(Setting.APPLICATION_PACKAGES).isEmpty()) {
      options = options.with(Setting.APPLICATION_PACKAGES, scannedPackages(beans));
    }
    Optional<String> version = applicationVersion(environment, beans);
    return version.isPresent() ? options.with(Setting.VERSION, version.get()) : options;
  }

  @Bean
  @ConditionalOnMissingBean
  Mallometer mallometer(MallometerOptions options) {
    Mallometer mallometer = Mallometer.open(options);
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
  @Nullable AutomaticTrims automaticTrims(Mallometer mallometer, MallometerOptions options) {
    return options.find(Setting.TRIM_INTERVAL).isPresent()
        ? new AutomaticTrims(mallometer, options)
        : null;
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  StartedMonitors mallometerMonitors(Mallometer mallometer, MallometerOptions options) {
    return new StartedMonitors(mallometer, MonitorOptions.of(options));
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean
  @ConditionalOnProperty("mallometer.push.url")
  @Nullable ProfilePush profilePush(
      Mallometer mallometer,
      MallometerOptions options,
      Environment environment,
      ObjectProvider<SslBundles> bundles) {
    String service = environment.getProperty("spring.application.name", "");
    Optional<PushOptions> store =
        PushOptions.of(options, service.isEmpty() ? "application" : service);
    if (store.isEmpty()) {
      return null;
    }
    ProfilePush push = ProfilePush.start(mallometer, secured(store.get(), options, bundles));
    Checkpoints.around(push::pause, push::resume);
    return push;
  }

  /** A bundle that Spring reloads holds from the next push on. */
  private static PushOptions secured(
      PushOptions store, MallometerOptions options, ObjectProvider<SslBundles> bundles) {
    Optional<String> name = options.find(Setting.PUSH_SSL_BUNDLE);
    if (name.isEmpty()) {
      return store;
    }
    SslBundles all = bundles.getObject();
    all.getBundle(name.get()); // an unknown name stops the start
    return store.withSslContext(() -> all.getBundle(name.get()).createSslContext());
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(value = AttachAfterRefresh.class, name = "mallometerAttach")
  AttachAfterRefresh mallometerAttach(Mallometer mallometer, ApplicationContext context) {
    return new AttachAfterRefresh(mallometer, AttachSetting.of(context.getEnvironment()), context);
  }
}
