package io.mallometer.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Measures the native memory that a method of a bean allocates, if {@code
 * mallometer.scopes.enabled} is true. Each call from outside the bean is recorded in the meter
 * {@code native.scope.allocated} with the annotation's value as its tag {@code scope}. Work that
 * the method hands to other threads is not included.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface NativeScoped {

  /** The name of the scope, such as {@code thumbnail}. */
  String value();
}
