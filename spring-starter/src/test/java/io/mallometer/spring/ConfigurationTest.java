package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.ChildJvm;
import io.mallometer.FakeMallometer;
import io.mallometer.PublicNames;
import io.mallometer.SimulatedCheckpoints;
import io.mallometer.push.ProfilePush;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** What an IDE shows for {@code mallometer.*}, and what a wrong value answers. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("any-jdk")
class ConfigurationTest {

  /** In Markdown, with or without a value. */
  private static final Pattern DOCUMENTED =
      Pattern.compile("`((?:mallometer|management)\\.[a-z.-]+)(?:=[^`]+)?`");

  private static final Set<String> WITHOUT_A_FIXED_DEFAULT =
      Set.of(
          "mallometer.limit",
          "mallometer.leak.healthy-sites",
          "mallometer.leak.healthy-sites-file",
          "mallometer.monitor.periodic",
          "mallometer.monitor.present",
          "mallometer.monitor.threshold",
          "mallometer.push.certificates",
          "mallometer.push.labels",
          "mallometer.push.password",
          "mallometer.push.tenant",
          "mallometer.push.token-file",
          "mallometer.push.url",
          "mallometer.push.username",
          "mallometer.record.path",
          "mallometer.sites.application-packages",
          "mallometer.trim.interval");

  @Test
  void everyPropertyHasADescriptionAndADefault() throws IOException {
    Map<String, Map<String, Object>> properties = metadata("mallometer.");

    assertThat(properties.values())
        .allSatisfy(
            property -> {
              assertThat(property.get("description").toString()).endsWith(".");
              assertThat(property.get("defaultValue") != null)
                  .isNotEqualTo(WITHOUT_A_FIXED_DEFAULT.contains(property.get("name").toString()));
            });
    assertThat(properties.get("mallometer.enabled").get("description").toString())
        .startsWith("Whether to ");
  }

  /** With one of the two names only, the other Spring Boot starts and silently exports nothing. */
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
    "mallometer.poll-interval, 0s, at least 10 ms",
    "mallometer.poll-interval, soon, mallometer.poll-interval",
    "mallometer.trim.interval, 30s, must be at least 60s",
    "mallometer.trim.minimum-interval, -5ms, must not be negative",
    "mallometer.leak.profile, database, mallometer.leak.profile",
    "mallometer.leak.longest-timeout, -1s, must be 0 or at least 1s",
    "mallometer.leak.longest-timeout, 45, such as 90s",
    "mallometer.limit, 512, must be at least 1MB",
    "mallometer.limit, much, mallometer.limit",
    "mallometer.monitor.threshold, 0, must be greater than 0",
    "mallometer.monitor.present, much, mallometer.monitor.present",
    "mallometer.leak.time-scale, 0.5, must be from 1 to 1000",
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

  @ParameterizedTest
  @ValueSource(strings = {"", " "})
  void withAnEmptyAddressNothingIsPushed(String url) {
    try (ConfigurableApplicationContext context =
        Contexts.with(new FakeMallometer()).run("--mallometer.push.url=" + url)) {
      assertThat(context.getBeanProvider(ProfilePush.class).getIfAvailable()).isNull();
    }
  }

  @Test
  void anAddressWithAPasswordStopsTheStartupAndIsNotShown(CapturedOutput output) {
    assertThatThrownBy(
            () ->
                Contexts.with(new FakeMallometer())
                    .run("--mallometer.push.url=https://me:hunter2@localhost"))
        .isInstanceOf(Exception.class);

    assertThat(output)
        .contains("push.url must be an address without a user and a password")
        .doesNotContain("hunter2");
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
        .contains("Set mallometer.trim.retained-share to a share of the resident set such as 0.1");
  }

  /** With what Spring Boot adds of its own for the endpoint. */
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
   * Spring Boot's annotation processor knows properties of classes only: those that conditions read
   * are listed by hand.
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

  /** From whichever module the tests run in. */
  private static Path readme() {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.exists(directory.resolve("spring-starter/README.md"))) {
      directory = directory.getParent();
    }
    return directory.resolve("spring-starter/README.md");
  }

  private static Map<String, Map<String, Object>> metadata(String prefix) throws IOException {
    try (InputStream file = resource("META-INF/spring-configuration-metadata.json")) {
      String json = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      @SuppressWarnings("unchecked")
      List<Map<String, Object>> properties =
          (List<Map<String, Object>>)
              JsonParserFactory.getJsonParser().parseMap(json).get("properties");
      return properties.stream()
          .filter(property -> property.get("name").toString().startsWith(prefix))
          .collect(Collectors.toMap(property -> property.get("name").toString(), p -> p));
    }
  }

  /** From our jar, not from one of the many with a file of this name. */
  private static InputStream resource(String name) throws IOException {
    String own =
        MallometerProperties.class.getProtectionDomain().getCodeSource().getLocation() + "";
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
