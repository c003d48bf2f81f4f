package io.mallometer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class SettingTest {

  @Test
  void aSettingHasOneSpelling() {
    assertThat(Setting.MAX_SCOPES.name()).isEqualTo("max-scopes");
    assertThat(Setting.MAX_SCOPES.property()).isEqualTo("mallometer.max-scopes");
    assertThat(Setting.OWNERS_MAX_PAUSE.variable()).isEqualTo("MALLOMETER_OWNERS_MAX_PAUSE");
    assertThat(Setting.all())
        .allSatisfy(
            setting ->
                assertThat(setting.name())
                    .matches("[a-z][a-z0-9]*(-[a-z0-9]+)*(\\.[a-z][a-z0-9]*(-[a-z0-9]+)*)*"));
    assertThat(Setting.all().stream().map(Setting::variable)).doesNotHaveDuplicates();
  }

  /**
   * Checks that no name of a setting is the beginning of another one, because a name in YAML has
   * either a value or parts.
   */
  @Test
  void noOptionIsTheBeginningOfAnother() {
    for (Setting<?> setting : Setting.all()) {
      if (setting.isOption() || setting.isProperty()) {
        assertThat(Setting.all().stream().filter(other -> other.isOption() || other.isProperty()))
            .noneMatch(other -> other.name().startsWith(setting.name() + "."));
      }
    }
  }

  @Test
  void everyDefaultIsAValueOfItsSetting() {
    for (Setting<?> setting : Setting.all()) {
      if (!setting.defaultText().isEmpty()) {
        assertThat(setting.parse(setting.name(), setting.defaultText()))
            .as(setting.name())
            .isEqualTo(setting.defaultValue());
      }
    }
  }

  @Test
  void textsAreRead() {
    assertThat(Setting.LIMIT.parse("limit", "512m")).isEqualTo(512L << 20);
    assertThat(Setting.LIMIT.parse("limit", "2GiB")).isEqualTo(2L << 30);
    assertThat(Setting.MONITOR_THRESHOLD.parse("x", "1000")).isEqualTo(1000);
    assertThat(Setting.LEAK_LONGEST_TIMEOUT.parse("x", "0")).isEqualTo(Duration.ZERO);
    assertThat(Setting.LEAK_LONGEST_TIMEOUT.parse("x", "90s")).isEqualTo(Duration.ofSeconds(90));
    assertThat(Setting.LEAK_WORKLOAD.parse("x", "real-time")).isEqualTo(LeakWorkload.REAL_TIME);
    assertThat(Setting.ATTACH.parse("x", "false")).isEqualTo(AttachMode.OFF);
    assertThat(Setting.ATTACH.parse("x", "on")).isEqualTo(AttachMode.AUTO);
    assertThat(Setting.ENABLED.parse("x", "Off")).isFalse();
    assertThat(Setting.RECORDING.parse("x", "/data/r")).isEqualTo(Path.of("/data/r"));
    assertThat(Setting.APPLICATION_PACKAGES.parse("x", "com.shop, org.cart"))
        .containsExactly("com.shop", "org.cart");
    assertThat(Setting.PUSH_LABELS.parse("x", "a=b c=d=e")).isEqualTo(Map.of("a", "b", "c", "d=e"));
    assertThat(Setting.OTLP_HEADERS.parse("x", "A=b , C=d")).isEqualTo(Map.of("A", "b", "C", "d"));
    assertThat(Setting.OTLP_HEADERS.parse("x", "Authorization=Bearer abc==,a=b"))
        .isEqualTo(Map.of("Authorization", "Bearer abc==", "a", "b"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "limit | 512 | must be at least 1MB, such as 512m or 2g",
        "limit | much | must be a size with a unit, such as 512m or 2g",
        "limit | 99999999999t | must be a size with a unit, such as 512m or 2g",
        "limit | 9999999999999999999999 | must be a size with a unit, such as 512m or 2g",
        "limit | 1x | must be a size with a unit, such as 512m or 2g",
        "monitor.threshold | 0 | must be at least 1, such as 512m or 2g",
        "monitor.live-size | -1 | must be a size with a unit, such as 512m or 2g",
        "poll-interval | 0 | must be at least 10ms, such as 90s, 45m or 2h",
        "poll-interval | 30 | must be a time with a unit, such as 90s, 45m or 2h",
        "leak.longest-timeout | 5ms | must be 0 or at least 1s, such as 90s, 45m or 2h",
        "leak.workload | eager | must be one of real-time, interactive, service, batch",
        "leak.workload | true | must be one of real-time, interactive, service, batch",
        "attach | offf | must be one of auto, early, off",
        "leak.time-scale | 0.5 | must be from 1 to 1000",
        "trim.retained-share | NaN | must be a number",
        "trim.retained-share | 10 | must be from 0 to 1",
        "max-scopes | 81 | must be from 1 to 80",
        "port | x | must be a whole number",
        "port | 65536 | must be from 0 to 65535",
        "enabled | perhaps | must be true or false",
        "push.labels | a,b=c | must be a list of name=value"
      })
  void aWrongValueIsRefusedWithItsNameAndWhatMustHold(String name, String value, String rule) {
    Setting<?> setting =
        Setting.all().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();

    assertThatExceptionOfType(InvalidSettingException.class)
        .isThrownBy(() -> setting.parse("MY_" + name, value))
        .withMessage("MY_" + name + " is \"" + value + "\" and " + rule);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "a=b,c"})
  void aSecretIsNotShown(String headers) {
    assertThatThrownBy(() -> Setting.OTLP_HEADERS.parse("otlp.headers", headers))
        .hasMessage("otlp.headers is \"******\" and must be a list of name=value");
  }

  @Test
  void optionsKnowWhatDiffersByTheNamesThatUsersWrite() {
    MallometerOptions defaults = MallometerOptions.defaults();
    MallometerOptions other =
        defaults
            .with(Setting.POLL_INTERVAL, Duration.ofSeconds(1))
            .with(Setting.LEAK_TIME_SCALE, 60.0)
            .with(Setting.APPLICATION_PACKAGES, List.of("com.example"));

    assertThat(other.differences(defaults))
        .containsExactlyInAnyOrder(
            "poll-interval", "sites.application-packages", "leak.time-scale");
    assertThat(other.differences(other)).isEmpty();
    assertThat(defaults.with(Setting.POLL_INTERVAL, Duration.ofSeconds(5))).isEqualTo(defaults);
  }

  @Test
  void optionsReportWhatHasNoEffectWithoutAnotherSetting() {
    MallometerOptions options =
        MallometerOptions.defaults()
            .with(Setting.PUSH_INTERVAL, Duration.ofMinutes(1))
            .with(Setting.OTLP_INTERVAL, Duration.ofMinutes(2))
            .with(Setting.HTTP_USERNAME, "ann")
            .with(Setting.HOST, "0.0.0.0")
            .with(Setting.MAX_SCOPES, 9);

    assertThat(options.unused())
        .containsExactly(
            "push.interval has no effect without push.url: set push.url, or remove push.interval",
            "host has no effect without port: set port, or remove host",
            "http-server.authentication.basic.username has no effect without port: set port, or"
                + " remove http-server.authentication.basic.username",
            "otlp.interval has no effect without otlp.url: set otlp.url, or remove otlp.interval");
    assertThat(options.with(Setting.PORT, 0).with(Setting.PUSH_URL, "http://a").unused())
        .hasSize(1);
  }

  @Test
  void optionsRefuseAValueOutOfRange() {
    assertThatThrownBy(
            () -> MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ZERO))
        .hasMessage("poll-interval is \"0s\" and must be at least 10ms, such as 90s, 45m or 2h");
    assertThatThrownBy(() -> MallometerOptions.defaults().get(Setting.PUSH_URL))
        .hasMessage("push.url is missing");
  }
}
