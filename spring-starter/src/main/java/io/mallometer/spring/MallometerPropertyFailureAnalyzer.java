package io.mallometer.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * Says which property {@code mallometer.*} stopped the start, where it was set, and what to do
 * about it.
 */
final class MallometerPropertyFailureAnalyzer
    extends AbstractFailureAnalyzer<MallometerPropertyException> {

  private final Environment environment;

  MallometerPropertyFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected FailureAnalysis analyze(Throwable root, MallometerPropertyException cause) {
    String description =
        "The property '%s' %s, but is '%s'%s."
            .formatted(cause.property(), cause.rule(), cause.value(), origin(cause.property()));
    return new FailureAnalysis(description, cause.remedy(), cause);
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
