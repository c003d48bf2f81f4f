package io.mallometer.jmx;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/** Describes an attribute, an operation or its parameter: JMX clients such as JConsole show it. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.PARAMETER})
public @interface Description {

  /** Returns the description, one sentence. */
  @DescriptorKey("meaning")
  String value();

  /** Returns the kind of record of a {@link Row}, or of a list of them. */
  @DescriptorKey("rows")
  Class<? extends Record> rows() default Record.class;

  /** Returns the name of a parameter. */
  @DescriptorKey("parameterName")
  String name() default "";
}
