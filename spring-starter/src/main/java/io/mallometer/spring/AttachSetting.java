package io.mallometer.spring;

import io.mallometer.internal.library.load.AttachVariable;
import io.mallometer.model.AttachMode;
import io.mallometer.model.Setting;
import java.util.Objects;
import java.util.Optional;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The property {@code mallometer.attach}, unless the environment variable {@code MALLOMETER_ATTACH}
 * forbids an attach.
 *
 * <p>With the variable an operator can prevent an attach without a build, so it wins over every
 * property and argument. An invalid value prevents it too, and the application starts: it is most
 * likely a mistyped {@code off}. The other valid values are those of the property, and Spring Boot
 * binds them as usual.
 *
 * @param mode when to attach
 * @param origin the setting that prevents the attach, as it was written; empty unless the mode is
 *     {@link AttachMode#OFF}
 */
record AttachSetting(AttachMode mode, String origin) {

  /**
   * Reads the setting.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if the property has an
   *     invalid value
   */
  static AttachSetting of(Environment environment) {
    return of(environment, AttachVariable.value());
  }

  /**
   * Reads the setting.
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
