package io.mallometer.spring;

import io.mallometer.internal.interposer.AttachVariable;
import io.mallometer.model.AttachMode;
import io.mallometer.model.Setting;
import java.util.Objects;
import java.util.Optional;
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

  /**
   * Reads the setting.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if the property has a
   *     value that is none
   */
  static AttachSetting of(Environment environment) {
    return of(environment, AttachVariable.value());
  }

  /**
   * The same.
   *
   * @param variable the value of the environment variable; empty if it is not set
   */
  static AttachSetting of(Environment environment, String variable) {
    Optional<String> objection = AttachVariable.objection(variable);
    if (objection.isPresent()) {
      return new AttachSetting(AttachMode.OFF, objection.get());
    }
    Binder binder = Binder.get(environment);
    String property = Setting.ATTACH.property();
    String word = Objects.requireNonNull(binder.bind(property, String.class).orElse(""));
    AttachMode mode =
        AttachVariable.isOn(word)
            ? AttachMode.AUTO
            : Objects.requireNonNull(
                binder.bind(property, AttachMode.class).orElse(AttachMode.AUTO));
    return new AttachSetting(mode, mode == AttachMode.OFF ? property + "=off" : "");
  }
}
