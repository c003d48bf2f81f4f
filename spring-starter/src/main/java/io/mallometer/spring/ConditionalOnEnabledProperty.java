package io.mallometer.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if the named boolean property is true, or absent and true by default.
 *
 * <p>Unlike {@code @ConditionalOnProperty} it reads the value as the configuration properties do:
 * {@code off} and {@code no} are false, and what is no boolean at all stops the startup with a
 * message instead of switching something silently.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnEnabledPropertyCondition.class)
@interface ConditionalOnEnabledProperty {

  /** The property's full name. */
  String value();
}
