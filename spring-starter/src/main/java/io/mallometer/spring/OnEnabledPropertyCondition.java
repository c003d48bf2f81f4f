package io.mallometer.spring;

import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Reads the property that {@link ConditionalOnEnabledProperty} names; an absent one is true. */
final class OnEnabledPropertyCondition extends SpringBootCondition {

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    String name =
        metadata.getAnnotations().get(ConditionalOnEnabledProperty.class).getString("value");
    boolean enabled = enabled(context.getEnvironment(), name);
    ConditionMessage message =
        ConditionMessage.forCondition(ConditionalOnEnabledProperty.class)
            .because(name + " is " + enabled);
    return new ConditionOutcome(enabled, message);
  }

  /**
   * Reads a property as the configuration properties do.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if it is no boolean
   */
  static boolean enabled(Environment environment, String name) {
    return Objects.requireNonNull(Binder.get(environment).bind(name, Boolean.class).orElse(true));
  }
}
