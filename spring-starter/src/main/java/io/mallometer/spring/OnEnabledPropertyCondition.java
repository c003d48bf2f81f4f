package io.mallometer.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Reads the property that {@link ConditionalOnEnabledProperty} names.
 *
 * <p>Spring Boot would read {@code mallometer.enabled} from the environment variable {@code
 * MALLOMETER_ENABLED} as well. That variable is the library's kill switch: it takes the native part
 * away, and leaves the endpoint and the figures from {@code /proc}, so that dashboards still tell a
 * process that is not counted from one that is gone. So it is no source of this property.
 */
final class OnEnabledPropertyCondition extends SpringBootCondition {

  private static final String ALL = "mallometer.enabled";

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    MergedAnnotation<ConditionalOnEnabledProperty> condition =
        metadata.getAnnotations().get(ConditionalOnEnabledProperty.class);
    String name = condition.getString("value");
    boolean enabled = enabled(context.getEnvironment(), name, condition.getBoolean("absent"));
    ConditionMessage message =
        ConditionMessage.forCondition(ConditionalOnEnabledProperty.class)
            .because(name + " is " + enabled);
    return new ConditionOutcome(enabled, message);
  }

  /**
   * Reads {@code mallometer.enabled}.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if it is no boolean
   */
  static boolean enabled(Environment environment) {
    return enabled(environment, ALL, true);
  }

  /** Reads a property as the configuration properties do. */
  private static boolean enabled(Environment environment, String name, boolean absent) {
    Binder binder = name.equals(ALL) ? withoutVariables(environment) : Binder.get(environment);
    return Objects.requireNonNull(binder.bind(name, Boolean.class).orElse(absent));
  }

  private static Binder withoutVariables(Environment environment) {
    List<ConfigurationPropertySource> sources = new ArrayList<>();
    for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
      if (!(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource)) {
        sources.add(source);
      }
    }
    return new Binder(sources, new PropertySourcesPlaceholdersResolver(environment));
  }
}
