package io.mallometer.model;

/**
 * The time at which mallometer attaches to a program that was started without the native library.
 */
public enum AttachMode {
  /**
   * The agent attaches when it starts. The Spring Boot starter attaches after the application
   * context is refreshed, on a thread that nothing waits for.
   */
  AUTO,

  /**
   * The agent attaches when it starts. The Spring Boot starter attaches while Spring Boot starts.
   * The creation of beans waits at most a second for the attach.
   */
  EARLY,

  /** The agent and the Spring Boot starter do not attach. */
  OFF
}
