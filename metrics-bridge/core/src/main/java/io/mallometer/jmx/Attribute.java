package io.mallometer.jmx;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/** What an attribute or operation means: JMX clients such as JConsole show it. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Attribute {

  /** One sentence. */
  @DescriptorKey("meaning")
  String value();

  /** The unit, in the descriptor field that JMX defines for it; empty for what has none. */
  @DescriptorKey("units")
  String units() default "";

  /** {@link #COUNTER} or {@link #GAUGE}, in the descriptor field that JMX defines for it. */
  @DescriptorKey("metricType")
  String type() default "";

  /** Only grows while the process lives. */
  String COUNTER = "counter";

  /** Goes up and down. */
  String GAUGE = "gauge";
}
