package io.mallometer.jmx;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import javax.management.DescriptorKey;

/** What an operation's parameter is: JMX clients such as JConsole show it. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface Argument {

  /** The name. */
  @DescriptorKey("parameterName")
  String name();

  /** One sentence. */
  @DescriptorKey("meaning")
  String value();
}
