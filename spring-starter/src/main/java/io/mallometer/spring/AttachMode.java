package io.mallometer.spring;

import org.springframework.core.env.Environment;

/**
 * Time at which an application that was started without the library begins to count native memory.
 */
public enum AttachMode {
  /** After the application's context is refreshed, on a thread that nothing waits for. */
  AUTO,

  /**
   * In parallel with the start of Spring Boot, before beans are created, which waits for it for at
   * most a second.
   */
  EARLY,

  /** Never. */
  OFF;

  /**
   * The mode of an application, for callers that are compiled for Java 8 and cannot see a record.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if the property has a
   *     value that is none
   */
  static AttachMode of(Environment environment) {
    return AttachSetting.of(environment).mode();
  }
}
