package io.mallometer.spring;

import io.mallometer.internal.library.load.AttachVariable;
import io.mallometer.model.AttachMode;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Binds the properties {@code mallometer.*} to the {@link Setting settings} of the same names. */
final class ApplicationSettings {

  private final Binder binder;

  private ApplicationSettings(Environment environment) {
    this.binder = Binder.get(environment);
  }

  /**
   * Returns the settings of an application, except {@code mallometer.attach}, which {@link
   * AttachSetting} reads.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if a value cannot be
   *     converted to the setting's type
   * @throws io.mallometer.model.InvalidSettingException if a value is out of range
   */
  static MallometerOptions of(Environment environment) {
    ApplicationSettings settings = new ApplicationSettings(environment);
    MallometerOptions options = MallometerOptions.defaults();
    for (Setting<?> setting : Setting.all()) {
      if (setting.isProperty() && setting != Setting.ATTACH) {
        options = settings.read(setting, options);
      }
    }
    return options;
  }

  private <T> MallometerOptions read(Setting<T> setting, MallometerOptions options) {
    Object value = value(setting);
    if (value instanceof String text) {
      return StringUtils.hasText(text)
          ? options.withText(setting, setting.property(), text)
          : options;
    }
    @SuppressWarnings("unchecked") // value() has bound the value to the setting's type
    @Nullable T typed = (T) value;
    return typed == null ? options : options.with(setting, typed);
  }

  private @Nullable Object value(Setting<?> setting) {
    return switch (setting.type()) {
      case FLAG -> bind(setting, Bindable.of(Boolean.class));
      case COUNT -> bind(setting, Bindable.of(Integer.class));
      case RATIO -> bind(setting, Bindable.of(Double.class));
      case TIME -> bind(setting, Bindable.of(Duration.class));
      case CHOICE -> bind(setting, Bindable.of(setting.choiceType()));
      case LIST -> bind(setting, Bindable.listOf(String.class));
      case SIZE, TEXT, FILE -> bind(setting, Bindable.of(String.class));
      // An environment variable contains the whole map as one text. Properties have one name for
      // each key.
      case MAP -> {
        Object text = bind(setting, Bindable.of(String.class));
        yield text == null ? bind(setting, Bindable.mapOf(String.class, String.class)) : text;
      }
    };
  }

  private @Nullable Object bind(Setting<?> setting, Bindable<?> type) {
    return binder.bind(setting.property(), type).orElse(null);
  }

  /**
   * The property {@code mallometer.attach}, or {@link AttachMode#OFF} if the environment variable
   * {@code MALLOMETER_ATTACH} forbids an attach.
   *
   * <p>An operator can set the variable without a new build. An invalid value forbids the attach
   * too, because it is most likely a mistyped {@code off}.
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
}
