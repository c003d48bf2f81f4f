package io.mallometer.spring;

import io.mallometer.model.InvalidSettingException;
import io.mallometer.model.Setting;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * Explains which property {@code mallometer.*} stopped the application's start, where it was set,
 * and what to do.
 */
final class InvalidSettingFailureAnalyzer extends AbstractFailureAnalyzer<InvalidSettingException> {

  private final Environment environment;

  InvalidSettingFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidSettingException cause) {
    Setting<?> setting = cause.setting();
    String usual = setting.defaultText();
    return new FailureAnalysis(
        "The property '%s' %s, but is '%s'%s."
            .formatted(setting.property(), cause.rule(), cause.value(), origin(setting.property())),
        "Set %s to %s, or remove it%s."
            .formatted(
                setting.property(),
                setting.values(),
                usual.isEmpty() ? "" : " to have the default of " + usual),
        cause);
  }

  private String origin(String property) {
    if (environment instanceof ConfigurableEnvironment configurable) {
      for (PropertySource<?> source : configurable.getPropertySources()) {
        Origin origin = OriginLookup.getOrigin(source, property);
        if (origin != null) {
          return " (from " + origin + ")";
        }
      }
    }
    return "";
  }
}
