package io.mallometer.spring;

import io.mallometer.model.Setting;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if the named boolean property is true, or absent and true by default.
 *
 * <p>Unlike {@code @ConditionalOnProperty}, it reads {@code off} and {@code no} as false, and a
 * value that is not a boolean stops the start with a message.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnEnabledProperty.OnEnabledProperty.class)
@interface ConditionalOnEnabledProperty {

  String value();

  final class OnEnabledProperty extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      MergedAnnotation<ConditionalOnEnabledProperty> condition =
          metadata.getAnnotations().get(ConditionalOnEnabledProperty.class);
      String name = condition.getString("value");
      boolean enabled = enabled(context.getEnvironment(), name);
      ConditionMessage message =
          ConditionMessage.forCondition(ConditionalOnEnabledProperty.class)
              .because(name + " is " + enabled);
      return new ConditionOutcome(enabled, message);
    }

    /**
     * Reads {@code mallometer.enabled}.
     *
     * @throws org.springframework.boot.context.properties.bind.BindException if it is not a boolean
     */
    static boolean enabled(Environment environment) {
      return enabled(environment, Setting.ENABLED.property());
    }

    private static boolean enabled(Environment environment, String name) {
      return Objects.requireNonNull(
          Binder.get(environment).bind(name, Boolean.class).orElseGet(() -> usual(name)));
    }

    private static boolean usual(String name) {
      return Setting.all().stream()
          .anyMatch(
              setting ->
                  setting.property().equals(name) && Boolean.parseBoolean(setting.defaultText()));
    }
  }
}
