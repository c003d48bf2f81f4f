package io.mallometer.spring;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The property {@code mallometer.attach}, unless the environment variable {@code MALLOMETER_ATTACH}
 * forbids to attach.
 *
 * <p>The variable is an operator's means to stop attaching without a build, so it wins over every
 * property and argument. A value that it cannot have stops it too, and not the application: whoever
 * mistypes {@code off} wants that more likely than anything else. Its other values are those of the
 * property, to which Spring Boot binds the variable by its own rules.
 *
 * @param mode when to attach
 * @param origin what switched it off, as it was written; empty unless the mode is {@link
 *     AttachMode#OFF}
 */
record AttachSetting(AttachMode mode, String origin) {

  static final String PROPERTY = "mallometer.attach";
  static final String VARIABLE = "MALLOMETER_ATTACH";

  private static final List<String> OFF = List.of("off", "false", "0", "no");

  /**
   * Reads the setting.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if the property has a
   *     value that is none
   */
  static AttachSetting of(Environment environment) {
    return of(environment, System.getenv(VARIABLE));
  }

  /**
   * The same.
   *
   * @param variable the value of the environment variable; null if it is not set
   */
  static AttachSetting of(Environment environment, @Nullable String variable) {
    String value = variable == null ? "" : variable.trim();
    if (OFF.contains(value.toLowerCase(Locale.ROOT))) {
      return new AttachSetting(AttachMode.OFF, VARIABLE + "=" + value);
    }
    if (!value.isEmpty() && !names(value)) {
      return new AttachSetting(
          AttachMode.OFF, VARIABLE + "=" + value + " is none of auto, early, off and relaunch");
    }
    AttachMode mode =
        Objects.requireNonNull(
            Binder.get(environment).bind(PROPERTY, AttachMode.class).orElse(AttachMode.AUTO));
    return new AttachSetting(mode, mode == AttachMode.OFF ? PROPERTY + "=off" : "");
  }

  private static boolean names(String value) {
    return Stream.of(AttachMode.values()).anyMatch(mode -> mode.name().equalsIgnoreCase(value));
  }
}
