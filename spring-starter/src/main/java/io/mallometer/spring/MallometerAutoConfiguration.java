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
import io.mallometer.spring.ApplicationSettings.AttachSetting;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
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
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Configures the beans of every application: {@link Mallometer}, the MBeans, the events of Flight
 * Recorder, the events for huge requests and leaks, a listener that attaches the library, and
 * automatic trims if they are enabled.
 *
 * <p>Beans that no other bean requests are created at the start, even if the application
 * initializes its beans lazily.
 */
@AutoConfiguration
@ConditionalOnEnabledProperty("mallometer.enabled")
public final class MallometerAutoConfiguration {

  private static final Log logger = LogFactory.getLog(MallometerAutoConfiguration.class);

  @Bean
  @ConditionalOnMissingBean
  MallometerOptions mallometerOptions(Environment environment, BeanFactory beans) {
    MallometerOptions options = ApplicationSettings.of(environment);
    options
        .unused()
        .forEach(sentence -> logger.warn("Of the properties mallometer.*, " + sentence));
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

  /** Tells mallometer that the start has ended, so that it measures growth from then on. */
  @Bean
  @Lazy(false)
  ApplicationListener<ContextRefreshedEvent> mallometerStarted(
      Mallometer mallometer, ApplicationContext context) {
    return refreshed -> {
      // Child contexts pass their events to their parents, so events of other contexts are ignored.
      if (refreshed.getApplicationContext() == context) {
        mallometer.starting(false);
      }
    };
  }

  /** Returns the packages that Spring Boot scans for components; empty if it scans none. */
  static List<String> scannedPackages(BeanFactory beans) {
    return AutoConfigurationPackages.has(beans) ? AutoConfigurationPackages.get(beans) : List.of();
  }

  /**
   * Returns the version of the application: the property that Spring Boot sets from the manifest,
   * or else the version in META-INF/build-info.properties.
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
  @ConditionalOnMissingBean(name = "mallometerEvents")
  Subscriptions mallometerEvents(Mallometer mallometer, ApplicationEventPublisher events) {
    return new Subscriptions(
        () ->
            List.of(
                mallometer
                    .allocator()
                    .onHugeAllocation(
                        (allocation, missedBefore) ->
                            events.publishEvent(
                                new HugeAllocationEvent(mallometer, allocation, missedBefore))),
                mallometer
                    .leaks()
                    .onLeak(verdict -> events.publishEvent(new LeakEvent(mallometer, verdict)))));
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(name = "automaticTrims")
  @ConditionalOnProperty("mallometer.trim.interval")
  @Nullable Subscriptions automaticTrims(Mallometer mallometer, MallometerOptions options) {
    Optional<Duration> interval = options.find(Setting.TRIM_INTERVAL);
    if (interval.isEmpty()) {
      return null;
    }
    Duration least = options.get(Setting.TRIM_MINIMUM_INTERVAL);
    if (interval.get().compareTo(least) < 0) {
      throw Setting.TRIM_INTERVAL.invalid(
          Setting.text(interval.get()),
          "must be at least %1$s, as %2$s is %1$s"
              .formatted(Setting.text(least), Setting.TRIM_MINIMUM_INTERVAL.property()));
    }
    double share = options.get(Setting.TRIM_RETAINED_SHARE);
    return new Subscriptions(
        () -> List.of(mallometer.allocator().trimEvery(interval.get(), share)));
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(name = "mallometerMonitors")
  Subscriptions mallometerMonitors(Mallometer mallometer, MallometerOptions options) {
    List<MonitorOptions> monitors = MonitorOptions.of(options);
    return new Subscriptions(() -> monitors.stream().map(mallometer.monitors()::start).toList());
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

  /**
   * Adds the TLS context of the SSL bundle that the settings name; adds nothing without such a
   * setting. A push uses the bundle that Spring has loaded last, so a reloaded certificate takes
   * effect.
   */
  private static PushOptions secured(
      PushOptions store, MallometerOptions options, ObjectProvider<SslBundles> bundles) {
    Optional<String> name = options.find(Setting.PUSH_SSL_BUNDLE);
    if (name.isEmpty()) {
      return store;
    }
    SslBundles all = bundles.getObject();
    all.getBundle(name.get()); // An unknown name stops the start here.
    return store.withSslContext(() -> all.getBundle(name.get()).createSslContext());
  }

  @Bean
  @Lazy(false)
  @ConditionalOnMissingBean(value = AttachAfterRefresh.class, name = "mallometerAttach")
  AttachAfterRefresh mallometerAttach(Mallometer mallometer, ApplicationContext context) {
    return new AttachAfterRefresh(mallometer, AttachSetting.of(context.getEnvironment()), context);
  }

  static final class Subscriptions implements SmartInitializingSingleton, AutoCloseable {

    private final Supplier<List<Mallometer.Subscription>> start;
    private List<Mallometer.Subscription> open = List.of();

    private Subscriptions(Supplier<List<Mallometer.Subscription>> start) {
      this.start = start;
    }

    @Override
    public synchronized void afterSingletonsInstantiated() {
      open = start.get();
    }

    @Override
    public synchronized void close() {
      open.forEach(Mallometer.Subscription::close);
      open = List.of();
    }
  }
}
