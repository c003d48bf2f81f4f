package io.mallometer.agent.payload;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the agent's settings from its options and from environment variables. */
final class AgentSettings {

  private AgentSettings() {}

  /**
   * Reads settings from options and environment variables. An option takes precedence over a
   * variable.
   *
   * @throws IllegalArgumentException if a setting is not understood; the message names it
   */
  static MallometerOptions of(Map<String, String> options, Map<String, String> environment) {
    List<String> unknown = new ArrayList<>(options.keySet());
    List<String> known = new ArrayList<>();
    MallometerOptions settings = MallometerOptions.defaults();
    for (Setting<?> setting : Setting.all()) {
      if (!setting.isOption()) {
        continue;
      }
      known.add(setting.name());
      unknown.remove(setting.name());
      @Nullable String option = options.get(setting.name());
      @Nullable String variable = environment.get(setting.variable());
      if (option != null) {
        settings = settings.withText(setting, setting.name(), option);
      } else if (variable != null && isMeant(setting, variable)) {
        settings = settings.withText(setting, setting.variable(), variable);
      }
    }
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "unknown option \"" + unknown.get(0) + "\"; the options are " + String.join(", ", known));
    }
    return settings;
  }

  /**
   * Returns whether an environment variable is meant for the agent. Empty variables are not meant
   * for it, nor are variables that the library itself reads. Kubernetes sets MALLOMETER_PORT to an
   * address such as {@code tcp://10.0.0.1:9464} for a service called mallometer; the agent ignores
   * such an address.
   */
  private static boolean isMeant(Setting<?> setting, String variable) {
    return !variable.isEmpty()
        && !setting.isOfTheLibrary()
        && !(setting == Setting.PORT && variable.contains("://"));
  }
}
