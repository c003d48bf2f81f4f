package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.Certificates;
import io.mallometer.ChildJvm;
import io.mallometer.FakeMallometer;
import io.mallometer.PublicNames;
import io.mallometer.SimulatedCheckpoints;
import io.mallometer.SitesByHand;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.push.ProfilePush;
import io.mallometer.push.ProfileStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Checks the metadata that an IDE reads for {@code mallometer.*}, and the messages for invalid
 * values.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("any-jdk")
class ConfigurationTest {

  private static final Pattern DOCUMENTED =
      Pattern.compile("`((?:mallometer|management)\\.[a-z.-]+)(?:=[^`]+)?`");

  /** The rules come from Spring Boot's documentation of the metadata format. */
  @Test
  void everyPropertyFollowsTheRulesOfSpringBoot() throws IOException {
    Map<String, Map<String, Object>> properties = metadata("");

    assertThat(properties.keySet())
        .containsAll(
            Setting.all().stream().filter(Setting::isProperty).map(Setting::property).toList());
    assertThat(properties.values())
        .allSatisfy(
            property -> {
              String name = property.get("name").toString();
              String type = property.get("type").toString();
              String description = property.get("description").toString();
              assertThat(ConfigurationPropertyName.isValid(name)).as(name).isTrue();
              assertThat(description)
                  .as(name)
                  .matches(Pattern.compile("[A-Z].*\\.", Pattern.DOTALL))
                  .doesNotMatch("(The|A|An) .*");
              if (type.equals("java.lang.Boolean")) {
                assertThat(description).as(name).startsWith("Whether ");
              }
              if (type.startsWith("java.util.List")) {
                assertThat(description).as(name).startsWith("Comma-separated list of ");
              }
              if (property.containsKey("defaultValue")) {
                assertThat(description).as(name).doesNotContainIgnoringCase("by default");
              }
              assertThat(name).as("of type " + type).doesNotEndWith("-millis");
            });
  }

  /**
   * The meters need the auto-configuration of registries, which has different names in Spring Boot
   * 3.5 and 4.x. Without one of the names, applications with that version would export no meters.
   */
  @Test
  void metersComeAfterTheRegistryOfEitherSpringBoot() throws IOException {
    Properties autoConfigurations = new Properties();
    try (InputStream file = resource("META-INF/spring-autoconfigure-metadata.properties")) {
      autoConfigurations.load(file);
    }

    assertThat(
            autoConfigurations.getProperty(
                MallometerMetricsAutoConfiguration.class.getName() + ".AutoConfigureAfter"))
        .contains(
            "org.springframework.boot.actuate.autoconfigure.metrics."
                + "CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure."
                + "CompositeMeterRegistryAutoConfiguration");
  }

  @ParameterizedTest
  @CsvSource({
    "poll-interval, 0s, must be at least 10ms",
    "trim.interval, 5ms, must be at least 1s",
    "trim.minimum-interval, -5ms, must not be negative",
    "owners.max-pause, -1s, must not be negative",
    "leak.workload, database, mallometer.leak.workload",
    "leak.longest-timeout, -1s, must be 0 or at least 1s",
    "leak.longest-timeout, 45, such as 90s",
    "limit, 512, must be at least 1MB",
    "limit, much, mallometer.limit",
    "monitor.threshold, 0, must be at least 1",
    "monitor.live-size, much, mallometer.monitor.live-size",
    "leak.time-scale, 0.5, must be from 1 to 1000",
    "push.interval, 5ms, must be at least 1s",
    "push.labels, x, must be a list of name=value"
  })
  void wrongValueIsRefusedWithAMessage(String setting, String value, String message) {
    StandardEnvironment environment = new StandardEnvironment();
    environment
        .getPropertySources()
        .addFirst(new MapPropertySource("arguments", Map.of("mallometer." + setting, value)));

    assertThatThrownBy(() -> ApplicationSettings.of(environment)).hasMessageContaining(message);
  }

  /** The binder, a bean and three conditions refuse these values. */
  @ParameterizedTest
  @CsvSource({
    "mallometer.poll-interval, soon, mallometer.poll-interval",
    "mallometer.trim.interval, 30s, must be at least 60s",
    "mallometer.enabled, perhaps, mallometer.enabled",
    "mallometer.metrics.enabled, perhaps, mallometer.metrics.enabled",
    "mallometer.jmx.enabled, perhaps, mallometer.jmx.enabled"
  })
  void wrongValueStopsTheStartupWithAMessage(
      String property, String value, String message, CapturedOutput output) {
    SpringApplication application = new SpringApplication(TestApplication.class);
    application.setWebApplicationType(WebApplicationType.NONE);

    assertThatThrownBy(() -> application.run("--" + property + "=" + value))
        .isInstanceOf(Exception.class);

    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains(property)
        .contains(value)
        .contains(message);
  }

  /**
   * Hyphens of a property become underscores in its variable. Spring Boot alone would drop them and
   * read {@code MALLOMETER_MAXSCOPES}.
   */
  @Test
  void everySettingIsReadFromItsVariable() {
    Map<String, Object> variables =
        Map.of(
            "MALLOMETER_MAX_SCOPES", "9",
            "MALLOMETER_OWNERS_MAX_TOTAL_PAUSE", "7s",
            "MALLOMETER_LEAK_ACKNOWLEDGED_SITES", "a.B.c,d.E.*",
            "MALLOMETER_PUSH_LABELS", "team=shop zone=a",
            "MALLOMETER_RECORDING", "/data/recording",
            "MALLOMETER_LIMIT", "512m");
    StandardEnvironment environment = new StandardEnvironment();
    environment
        .getPropertySources()
        .replace(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables));

    assertThat(ApplicationSettings.of(environment))
        .isEqualTo(
            MallometerOptions.defaults()
                .with(Setting.MAX_SCOPES, 9)
                .with(Setting.OWNERS_MAX_TOTAL_PAUSE, Duration.ofSeconds(7))
                .with(Setting.LEAK_ACKNOWLEDGED_SITES, List.of("a.B.c", "d.E.*"))
                .with(Setting.PUSH_LABELS, Map.of("team", "shop", "zone", "a"))
                .with(Setting.RECORDING, Path.of("/data/recording"))
                .with(Setting.LIMIT, 512L << 20));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " "})
  void withAnEmptyAddressNothingIsPushed(String url) {
    try (ConfigurableApplicationContext context =
        Contexts.with(new FakeMallometer()).run("--mallometer.push.url=" + url)) {
      assertThat(context.getBeanProvider(ProfilePush.class).getIfAvailable()).isNull();
    }
  }

  @Test
  void aSettingWithoutEffectIsNamedOnceWithTheRemedy(CapturedOutput output) {
    Contexts.with(new FakeMallometer()).run("--mallometer.push.interval=30s").close();

    assertThat(output)
        .containsOnlyOnce(
            "push.interval has no effect without push.url: set push.url, or remove push.interval");
  }

  /**
   * Settings write enum values in kebab-case, which an IDE cannot derive from the enum. So the
   * metadata lists the values.
   */
  @Test
  void anIdeOffersTheWordsOfEachChoice() throws IOException {
    List<Map<String, Object>> hints = metadataOf("hints");
    Setting.all().stream()
        .filter(setting -> setting.isProperty() && setting.type() == Setting.Type.CHOICE)
        .forEach(
            setting ->
                assertThat(hints)
                    .contains(
                        Map.of(
                            "name",
                            setting.property(),
                            "values",
                            setting.words().stream().map(word -> Map.of("value", word)).toList())));
    assertThat(hints).isNotEmpty();
  }

  @Test
  void anAddressWithAPasswordStopsTheStartupAndIsNotShown(CapturedOutput output) {
    assertThatThrownBy(
            () ->
                Contexts.with(new FakeMallometer())
                    .run("--mallometer.push.url=https://me:hunter2@localhost"))
        .isInstanceOf(Exception.class);

    assertThat(output)
        .contains("must be an address without a user and a password")
        .doesNotContain("hunter2");
  }

  @Test
  @Tag("process")
  void aStoreIsTrustedByAnSslBundle(@TempDir Path directory) throws Exception {
    Path keys = directory.resolve("keys.p12");
    Certificates.keytool(keys, "localhost");
    FakeMallometer mallometer = new FakeMallometer();
    Instant time = Instant.parse("2026-01-01T00:00:00Z");
    try (ProfileStore store = new ProfileStore(Certificates.serving(keys), 0, () -> 200);
        ConfigurableApplicationContext context =
            Contexts.with(mallometer)
                .run(
                    "--mallometer.push.url=" + store.url(),
                    "--mallometer.push.interval=1s",
                    "--mallometer.push.ssl.bundle=store",
                    "--spring.ssl.bundle.pem.store.truststore.certificate=file:"
                        + Certificates.pem(keys, "localhost"))) {
      for (int second = 2; store.waiting() == 0 && second < 2_000; second += 2) {
        mallometer.advance(Duration.ofSeconds(2));
        mallometer.setSites(
            SitesByHand.reading(
                time.plusSeconds(second),
                List.of(SitesByHand.site(1, "a.B.growing", "liba.so", 1_000 * second))));
        Thread.sleep(20);
      }
      assertThat(context.isRunning()).isTrue();
      assertThat(store.next().labels()).containsEntry("__name__", "memory");
    }
  }

  @Test
  void anUnknownSslBundleStopsTheStartup() {
    assertThatThrownBy(
            () ->
                Contexts.with(new FakeMallometer())
                    .run(
                        "--mallometer.push.url=https://localhost",
                        "--mallometer.push.ssl.bundle=none"))
        .hasStackTraceContaining("SSL bundle name 'none' cannot be found");
  }

  @Test
  @Tag("process")
  void pushesEndForACheckpointAndGoOnAfterIt(@TempDir Path directory) {
    ChildJvm.Result result =
        new ChildJvm()
            .options(SimulatedCheckpoints.option(directory))
            .run(CheckpointedPushes.class);

    assertThat(result.output())
        .contains("before: true", "meanwhile: false", "after: true", "at the end: false");
  }

  @Test
  void aShareThatIsNoneStopsTheStartupAndSaysWhereItWasSet(CapturedOutput output) {
    SpringApplication application = new SpringApplication(TestApplication.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setDefaultProperties(Map.of("mallometer.trim.interval", "5m"));

    assertThatThrownBy(() -> application.run("--mallometer.trim.retained-share=10"))
        .isInstanceOf(Exception.class);

    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains("'mallometer.trim.retained-share' must be from 0 to 1, but is '10.0'")
        .contains("from \"mallometer.trim.retained-share\" from property source")
        .contains(
            "Set mallometer.trim.retained-share to a number from 0 to 1, or remove it to have the");
  }

  @Test
  void everyPropertyIsInTheFileOfPublicNames() throws IOException {
    PublicNames.check(
        "properties",
        metadata("").values().stream()
            .map(
                property ->
                    property.get("name")
                        + ": "
                        + property.get("type")
                        + (property.containsKey("defaultValue")
                            ? " = " + property.get("defaultValue")
                            : ""))
            .toList());
  }

  /**
   * The build writes the metadata from {@link Setting} and from management.json, which is written
   * by hand.
   */
  @Test
  void everyPropertyOfTheReadmeIsKnownToAnIde() throws IOException {
    Set<String> documented =
        DOCUMENTED
            .matcher(Files.readString(readme()))
            .results()
            .map(found -> found.group(1))
            .filter(name -> !name.startsWith("management.") || name.contains(".nativememory."))
            .collect(Collectors.toSet());

    assertThat(documented)
        .contains("mallometer.enabled", "management.info.nativememory.enabled")
        .isSubsetOf(metadata("").keySet());
  }

  private static Path readme() {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.exists(directory.resolve("spring-starter/README.md"))) {
      directory = directory.getParent();
    }
    return directory.resolve("spring-starter/README.md");
  }

  private static Map<String, Map<String, Object>> metadata(String prefix) throws IOException {
    return metadataOf("properties").stream()
        .filter(property -> property.get("name").toString().startsWith(prefix))
        .collect(Collectors.toMap(property -> property.get("name").toString(), p -> p));
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> metadataOf(String kind) throws IOException {
    try (InputStream file = resource("META-INF/spring-configuration-metadata.json")) {
      String json = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      return (List<Map<String, Object>>) JsonParserFactory.getJsonParser().parseMap(json).get(kind);
    }
  }

  /** Opens a resource of the starter's jar, because other jars have files with the same name. */
  private static InputStream resource(String name) throws IOException {
    String own = ApplicationSettings.class.getProtectionDomain().getCodeSource().getLocation() + "";
    for (var url : java.util.Collections.list(classLoader().getResources(name))) {
      if (url.toString().contains(own)) {
        return url.openStream();
      }
    }
    throw new AssertionError(name + " is missing from " + own);
  }

  private static ClassLoader classLoader() {
    return ConfigurationTest.class.getClassLoader();
  }
}
