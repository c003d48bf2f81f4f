package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** What is missing from the application is quietly left out; what the application has, it keeps. */
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
                  MallometerActuatorHealthAutoConfiguration.class,
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
                    .hasSingleBean(HugeAllocationPublisher.class)
                    .hasSingleBean(AttachAfterRefresh.class)
                    .hasBean("nativeMemoryHealthIndicator")
                    .doesNotHaveBean(NativeMemoryInfoContributor.class)
                    .doesNotHaveBean(AutomaticTrims.class));
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
                    .doesNotHaveBean(HugeAllocationPublisher.class)
                    .doesNotHaveBean("nativeMemoryHealthIndicator")
                    .doesNotHaveBean(AttachAfterRefresh.class));
  }

  /**
   * The variable is the library's; what needs no library stays, and says why nothing is counted.
   */
  @ParameterizedTest
  @ValueSource(strings = {"off", "perhaps"})
  void everythingIsThereWhenTheEnvironmentSwitchesTheLibraryOff(String value) {
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
                    .hasSingleBean(Mallometer.class)
                    .hasSingleBean(NativeMemoryMBeans.class)
                    .hasSingleBean(NativeMemoryEndpoint.class)
                    .hasBean("nativeMemoryHealthIndicator"));
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

  @Test
  void ownHealthIsKept() {
    application
        .withBean("nativeMemoryHealthIndicator", String.class, () -> "own")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .getBean("nativeMemoryHealthIndicator")
                    .isEqualTo("own"));
  }

  @Test
  void infoWhereItIsSwitchedOn() {
    application
        .withPropertyValues("management.info.nativememory.enabled=true")
        .run(context -> assertThat(context).hasSingleBean(NativeMemoryInfoContributor.class));
  }

  @Test
  void ownWebExtensionIsKept() {
    application
        .withBean(
            "own",
            NativeMemoryEndpointWebExtension.class,
            () -> new NativeMemoryEndpointWebExtension(new NativeMemoryEndpoint(Mallometer.open())))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(NativeMemoryEndpointWebExtension.class)
                    .hasBean("own"));
  }

  @Test
  void automaticTrimsWhereAnIntervalIsSet() {
    application
        .withPropertyValues("mallometer.trim.interval=5m")
        .run(
            context -> {
              assertThat(context).hasSingleBean(AutomaticTrims.class);
              assertThat(trimThreads()).isEqualTo(1);
            });
  }

  /** As a template leaves an environment variable that nobody gave a value. */
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
  void ownFacadeIsKept() {
    try (Mallometer own = Mallometer.open()) {
      application
          .withBean("own", Mallometer.class, () -> own)
          .run(context -> assertThat(context).getBean(Mallometer.class).isSameAs(own));
    }
  }

  @Test
  void ownMetricsAreKept() {
    application
        .withBean(SimpleMeterRegistry.class)
        .withBean(
            "own", NativeMemoryMetrics.class, () -> new NativeMemoryMetrics(Mallometer.open()))
        .run(
            context -> assertThat(context).hasSingleBean(NativeMemoryMetrics.class).hasBean("own"));
  }

  @Test
  void ownEndpointIsKept() {
    application
        .withBean(
            "own", NativeMemoryEndpoint.class, () -> new NativeMemoryEndpoint(Mallometer.open()))
        .run(
            context ->
                assertThat(context).hasSingleBean(NativeMemoryEndpoint.class).hasBean("own"));
  }

  @Test
  void ownAttachIsKept() {
    application
        .withBean("mallometerAttach", String.class, () -> "none")
        .run(context -> assertThat(context).doesNotHaveBean(AttachAfterRefresh.class));
  }

  @Test
  void worksWithoutAMeterRegistry() {
    application.run(
        context -> assertThat(context).hasNotFailed().doesNotHaveBean(MeterRegistry.class));
  }
}
