package io.mallometer.spring;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Binds the properties {@code mallometer.*} to the {@link Setting settings} of the same names. The
 * metadata that an IDE reads comes from the same list.
 */
final class ApplicationSettings {

  private final Binder binder;

  private ApplicationSettings(Environment environment) {
    this.binder = Binder.get(environment);
  }

  /**
   * Returns the settings of an application, without {@code mallometer.attach}, which {@link
   * AttachSetting} reads.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if a value has another
   *     type
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
    @SuppressWarnings("unchecked") // the type of the setting decides what is bound
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
      // A map is one text in a variable, or a property for each key.
      case MAP -> {
        Object text = bind(setting, Bindable.of(String.class));
        yield text == null ? bind(setting, Bindable.mapOf(String.class, String.class)) : text;
      }
    };
  }

  private @Nullable Object bind(Setting<?> setting, Bindable<?> type) {
    return binder.bind(setting.property(), type).orElse(null);
  }
}
