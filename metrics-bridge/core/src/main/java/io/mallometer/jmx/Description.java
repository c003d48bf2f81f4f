package io.mallometer.jmx;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/**
 * The description of an attribute, an operation or a parameter, which JMX clients such as JConsole
 * show.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.PARAMETER})
public @interface Description {

  /** Returns the description in one sentence. */
  @DescriptorKey("meaning")
  String value();

  /** Returns the class of the records that the annotated method returns as {@link Row}s. */
  @DescriptorKey("rows")
  Class<? extends Record> rows() default Record.class;

  /** Returns the name of a parameter. */
  @DescriptorKey("parameterName")
  String name() default "";
}
