package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.mallometer.spring.MallometerPrometheusAutoConfiguration.RequestSizes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.ApplicationContextAssertProvider;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.web.filter.RequestContextFilter;

@Tag("any-jdk")
class BackOffTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  MallometerAutoConfiguration.class,
                  MallometerMetricsAutoConfiguration.class,
                  MallometerPrometheusAutoConfiguration.class,
                  MallometerEndpointAutoConfiguration.class,
                  MallometerHealthAutoConfiguration.class,
                  MallometerInfoAutoConfiguration.class))
          .withPropertyValues("management.endpoints.web.exposure.include=nativememory");

  @Test
  void everythingIsThereByDefault() {
    application
        .withBean(
            PrometheusMeterRegistry.class,
            () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(Mallometer.class)
                    .hasSingleBean(NativeMemoryMBeans.class)
                    .hasSingleBean(NativeMemoryEvents.class)
                    .hasSingleBean(NativeMemoryMetrics.class)
                    .hasSingleBean(RequestSizes.class)
                    .hasSingleBean(NativeMemoryEndpoint.class)
                    .hasSingleBean(NativeMemoryEndpointWebExtension.class)
                    .hasBean("mallometerEvents")
                    .hasSingleBean(AttachAfterRefresh.class)
                    .hasBean("nativeMemoryHealthIndicator")
                    .doesNotHaveBean("nativeMemoryInfoContributor")
                    .doesNotHaveBean("automaticTrims"));
  }

  @Test
  void nothingIsThereWhenDisabled() {
    application
        .withPropertyValues("mallometer.enabled=off")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(Mallometer.class)
                    .doesNotHaveBean(NativeMemoryMBeans.class)
                    .doesNotHaveBean(NativeMemoryEvents.class)
                    .doesNotHaveBean(NativeMemoryMetrics.class)
                    .doesNotHaveBean(NativeMemoryEndpoint.class)
                    .doesNotHaveBean(NativeMemoryEndpointWebExtension.class)
                    .doesNotHaveBean("mallometerEvents")
                    .doesNotHaveBean("nativeMemoryHealthIndicator")
                    .doesNotHaveBean(AttachAfterRefresh.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "false", "0", "NO"})
  void nothingWhenTheEnvironmentSwitchesEverythingOff(String value) {
    Map<String, Object> variables = Map.of("MALLOMETER_ENABLED", value);
    application
        .withInitializer(
            context ->
                context
                    .getEnvironment()
                    .getPropertySources()
                    .addFirst(new SystemEnvironmentPropertySource("variables", variables)))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(Mallometer.class)
                    .doesNotHaveBean(NativeMemoryMBeans.class)
                    .doesNotHaveBean(NativeMemoryEndpoint.class)
                    .doesNotHaveBean("nativeMemoryHealthIndicator"));
  }

  @Test
  void noEventsWhenFlightRecorderIsDisabled() {
    application
        .withPropertyValues("mallometer.jfr.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(Mallometer.class)
                    .doesNotHaveBean(NativeMemoryEvents.class));
  }

  @Test
  void noMetersWhenMetricsAreDisabled() {
    application
        .withBean(SimpleMeterRegistry.class)
        .withPropertyValues("mallometer.metrics.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(Mallometer.class)
                    .doesNotHaveBean(NativeMemoryMetrics.class)
                    .doesNotHaveBean(RequestSizes.class));
  }

  @Test
  void noMBeanWhenJmxIsDisabled() {
    application
        .withPropertyValues("mallometer.jmx.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(Mallometer.class)
                    .doesNotHaveBean(NativeMemoryMBeans.class));
  }

  @Test
  void noMetersWithoutMicrometer() {
    application
        .withClassLoader(new FilteredClassLoader("io.micrometer", "io.prometheus"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(Mallometer.class)
                    .hasSingleBean(NativeMemoryMBeans.class)
                    .doesNotHaveBean("nativeMemoryMetrics"));
  }

  @Test
  void noHistogramWithoutPrometheus() {
    application
        .withClassLoader(
            new FilteredClassLoader("io.prometheus", "io.micrometer.prometheusmetrics"))
        .withBean(SimpleMeterRegistry.class)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(NativeMemoryMetrics.class)
                    .doesNotHaveBean(RequestSizes.class));
  }

  @Test
  void noHistogramWithoutAMeterRegistry() {
    application.run(
        context -> assertThat(context).hasNotFailed().doesNotHaveBean(RequestSizes.class));
  }

  @Test
  void registriesThatAreNotForPrometheusAreLeftAlone() {
    application
        .withBean(SimpleMeterRegistry.class)
        .run(
            context ->
                assertThat(context.getBean(SimpleMeterRegistry.class).getMeters())
                    .noneMatch(meter -> meter.getId().getName().contains("request.size")));
  }

  @Test
  void noEndpointWithoutActuator() {
    application
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(Mallometer.class)
                    .doesNotHaveBean("nativeMemoryEndpoint")
                    .doesNotHaveBean("nativeMemoryEndpointWebExtension")
                    .doesNotHaveBean("nativeMemoryInfoContributor"));
  }

  @Test
  void noEndpointWhereItIsNotExposed() {
    application
        .withPropertyValues("management.endpoints.web.exposure.include=health")
        .run(context -> assertThat(context).doesNotHaveBean(NativeMemoryEndpoint.class));
  }

  @Test
  void noHealthWithoutSpringBootsHealth() {
    application
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.boot.actuate.health", "org.springframework.boot.health"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(Mallometer.class)
                    .doesNotHaveBean("nativeMemoryHealthIndicator"));
  }

  @Test
  void noHealthWhereItIsSwitchedOff() {
    application
        .withPropertyValues("management.health.nativememory.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("nativeMemoryHealthIndicator"));
    application
        .withPropertyValues("management.health.defaults.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("nativeMemoryHealthIndicator"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mallometerAttach",
        "mallometerEvents",
        "automaticTrims",
        "mallometerMonitors",
        "nativeMemoryHealthIndicator",
        "nativeMemoryInfoContributor"
      })
  void ownBeanOfTheNameIsKept(String name) {
    application
        .withBean(name, String.class, () -> "own")
        .withPropertyValues(
            "mallometer.trim.interval=5m", "management.info.nativememory.enabled=true")
        .run(context -> assertThat(context).hasNotFailed().getBean(name).isEqualTo("own"));
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        Mallometer.class,
        NativeMemoryMBeans.class,
        NativeMemoryEvents.class,
        AttachAfterRefresh.class,
        NativeMemoryMetrics.class,
        RequestSizes.class,
        NativeMemoryEndpoint.class,
        NativeMemoryEndpointWebExtension.class
      })
  void ownBeanOfTheTypeIsKept(Class<?> type) {
    assertOwnIsKept(
        application.withBean(
            PrometheusMeterRegistry.class,
            () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)),
        context -> context.getBean(type));
  }

  /** Disabled in {@code spring-starter/matrix}, where the class path has only one web stack. */
  @Test
  @DisabledIfSystemProperty(named = "matrix.boot", matches = ".+")
  void ownReactiveFilterIsKept() {
    assertOwnIsKept(
        new ReactiveWebApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    MallometerAutoConfiguration.class, MallometerEndpointAutoConfiguration.class))
            .withPropertyValues("management.endpoints.web.exposure.include=nativememory"),
        context -> context.getBean(ReactiveEndpointFilter.class));
  }

  @Test
  void ownRequestFilterIsKept() {
    assertOwnIsKept(
        new WebApplicationContextRunner()
            .withClassLoader(new FilteredClassLoader("org.springframework.web.servlet"))
            .withUserConfiguration(MallometerManagementContextConfiguration.class),
        context -> context.getBean(RequestContextFilter.class));
  }

  /**
   * Asserts that a bean of the application replaces mallometer's bean of the same type. Takes the
   * bean from a first context and registers it in a second one.
   */
  private static <
          S extends AbstractApplicationContextRunner<S, C, A>,
          C extends ConfigurableApplicationContext,
          A extends ApplicationContextAssertProvider<C>>
      void assertOwnIsKept(S application, Function<ApplicationContext, Object> bean) {
    application.run(
        first -> {
          Object own = bean.apply(first);
          application
              .withInitializer(context -> context.getBeanFactory().registerSingleton("own", own))
              .run(
                  second ->
                      assertThat(second.getBeansOfType(own.getClass())).containsOnlyKeys("own"));
        });
  }

  @Test
  void infoWhereItIsSwitchedOn() {
    application
        .withPropertyValues("management.info.nativememory.enabled=true")
        .run(context -> assertThat(context).hasBean("nativeMemoryInfoContributor"));
  }

  @Test
  void automaticTrimsWhereAnIntervalIsSet() {
    application
        .withPropertyValues("mallometer.trim.interval=5m")
        .run(
            context -> {
              assertThat(context).hasBean("automaticTrims");
              assertThat(trimThreads()).isEqualTo(1);
            });
  }

  /** An empty variable counts as not set. */
  @Test
  void noAutomaticTrimsWhereTheIntervalIsEmpty() {
    application
        .withPropertyValues("mallometer.trim.interval=")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(trimThreads()).isZero();
            });
  }

  private static long trimThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("mallometer-trim"))
        .count();
  }

  @Test
  void worksWithoutAMeterRegistry() {
    application.run(
        context -> assertThat(context).hasNotFailed().doesNotHaveBean(MeterRegistry.class));
  }
}
