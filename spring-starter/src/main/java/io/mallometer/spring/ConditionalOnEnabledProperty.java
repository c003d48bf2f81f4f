package io.mallometer.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/**
 * Matches if the named boolean property is true, or absent and true by default.
 *
 * <p>Reads the value as Spring Boot binds configuration properties, unlike
 * {@code @ConditionalOnProperty}: {@code off} and {@code no} are false, and a value that is not a
 * boolean stops the start with a message.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnEnabledPropertyCondition.class)
@interface ConditionalOnEnabledProperty {

  /** The property's full name. */
  String value();
}
