package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.internal.library.load.AttachVariable;
import io.mallometer.model.AttachMode;
import io.mallometer.spring.ApplicationSettings.AttachSetting;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

class AttachSettingTest {

  private final StandardEnvironment environment = new StandardEnvironment();

  @Test
  void autoIsTheDefault() {
    assertThat(setting("")).isEqualTo(new AttachSetting(AttachMode.AUTO, ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "Off", "false", "0", "no", "NO", "of", "${home}"})
  void variableThatSwitchesOffOrIsNotUnderstoodWinsOverEveryProperty(String variable) {
    argument("early");

    AttachSetting setting = setting(variable);

    assertThat(setting.mode()).isEqualTo(AttachMode.OFF);
    assertThat(setting.origin()).startsWith("MALLOMETER_ATTACH=" + variable);
  }

  @ParameterizedTest
  @CsvSource({"early, EARLY", "auto, AUTO", "on, AUTO", "True, AUTO", "1, AUTO", "yes, AUTO"})
  void variableSetsThePropertyBelowArguments(String variable, AttachMode mode) {
    assertThat(setting(variable).mode()).isEqualTo(mode);

    argument("off");

    assertThat(setting(variable))
        .isEqualTo(new AttachSetting(AttachMode.OFF, "mallometer.attach=off"));
  }

  /** YAML reads {@code off} without quotes as the boolean false. */
  @ParameterizedTest
  @ValueSource(strings = {"off", "'off'", "OFF"})
  void offIsUnderstoodInYaml(String value) throws Exception {
    byte[] file = ("mallometer:\n  attach: " + value + "\n").getBytes(StandardCharsets.UTF_8);
    new YamlPropertySourceLoader()
        .load("application", new ByteArrayResource(file))
        .forEach(environment.getPropertySources()::addFirst);

    assertThat(setting("").mode()).isEqualTo(AttachMode.OFF);
  }

  @Test
  void propertyThatIsNotUnderstoodIsAnError() {
    argument("of");

    assertThatThrownBy(() -> setting("")).isInstanceOf(BindException.class);
  }

  private void argument(String value) {
    environment
        .getPropertySources()
        .addFirst(new MapPropertySource("arguments", Map.of("mallometer.attach", value)));
  }

  private AttachSetting setting(String variable) {
    environment
        .getPropertySources()
        .replace(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                Map.of(AttachVariable.NAME, variable)));
    return AttachSetting.of(environment, variable);
  }
}
