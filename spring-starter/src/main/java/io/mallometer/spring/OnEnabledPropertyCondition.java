package io.mallometer.spring;

import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Reads the property that {@link ConditionalOnEnabledProperty} names; an absent one is true. */
final class OnEnabledPropertyCondition extends SpringBootCondition {

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    String name =
        metadata.getAnnotations().get(ConditionalOnEnabledProperty.class).getString("value");
    boolean enabled =
        Objects.requireNonNull(
            Binder.get(context.getEnvironment()).bind(name, Boolean.class).orElse(true));
    ConditionMessage message =
        ConditionMessage.forCondition(ConditionalOnEnabledProperty.class)
            .because(name + " is " + enabled);
    return new ConditionOutcome(enabled, message);
  }
}
