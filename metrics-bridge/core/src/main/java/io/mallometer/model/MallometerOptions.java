package io.mallometer.model;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The values of {@link Setting settings}. This class is immutable.
 *
 * <pre>{@code
 * MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofSeconds(1))
 * }</pre>
 */
public final class MallometerOptions {

  private static final MallometerOptions DEFAULTS = new MallometerOptions(Map.of());

  /** The values that differ from the defaults. */
  private final Map<Setting<?>, Object> given;

  private MallometerOptions(Map<Setting<?>, Object> given) {
    this.given = given;
  }

  /** Returns options in which every setting has its default. */
  public static MallometerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with another value of a setting.
   *
   * @throws InvalidSettingException if the value is not in the range of the setting
   */
  public <T> MallometerOptions with(Setting<T> setting, T value) {
    Map<Setting<?>, Object> all = new LinkedHashMap<>(given);
    if (Objects.equals(setting.check(value), setting.defaultValue())) {
      all.remove(setting);
    } else {
      all.put(setting, value);
    }
    return new MallometerOptions(all);
  }

  /**
   * Returns these options with another value of a setting, which is given as text.
   *
   * @param spelled the name that the user wrote, for the message
   * @throws InvalidSettingException if the text is no value of the setting
   */
  public <T> MallometerOptions withText(Setting<T> setting, String spelled, String text) {
    return with(setting, setting.parse(spelled, text));
  }

  /** Returns the value of a setting; empty if it was not given and has no default. */
  public <T> Optional<T> find(Setting<T> setting) {
    @SuppressWarnings("unchecked") // A setting maps to a value of its own type.
    @Nullable T value = (@Nullable T) given.get(setting);
    return value == null ? Optional.ofNullable(setting.defaultValue()) : Optional.of(value);
  }

  /**
   * Returns the value of a setting, or its default.
   *
   * @throws IllegalArgumentException if the setting has no default and was not given
   */
  public <T> T get(Setting<T> setting) {
    Optional<T> value = find(setting);
    if (value.isEmpty()) {
      throw new IllegalArgumentException(setting.name() + " is missing");
    }
    return value.get();
  }

  /**
   * Returns one sentence for each given setting that has no effect because another setting is
   * missing. The sentence names the missing setting.
   */
  public List<String> unused() {
    List<String> sentences = new ArrayList<>();
    for (Setting<?> setting : Setting.all()) {
      @Nullable Setting<?> needed = given.containsKey(setting) ? setting.requiredSetting() : null;
      if (needed != null && needed != setting && find(needed).isEmpty()) {
        sentences.add(
            "%s has no effect without %s: set %s, or remove %s"
                .formatted(setting, needed, needed, setting));
      }
    }
    return sentences;
  }

  /** Returns the names of the settings whose values differ from those of other options. */
  public List<String> differences(MallometerOptions other) {
    List<String> names = new ArrayList<>();
    for (Setting<?> setting : Setting.all()) {
      if (!Objects.equals(given.get(setting), other.given.get(setting))) {
        names.add(setting.name());
      }
    }
    return names;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof MallometerOptions options && given.equals(options.given);
  }

  @Override
  public int hashCode() {
    return given.hashCode();
  }

  /**
   * Returns the names of the settings that differ from their defaults, without values, which may be
   * secret.
   */
  @Override
  public String toString() {
    return "MallometerOptions" + given.keySet();
  }
}
