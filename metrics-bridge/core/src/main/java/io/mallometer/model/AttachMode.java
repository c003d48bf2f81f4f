package io.mallometer.model;

/**
 * The time at which mallometer begins to count native memory in a program that was started without
 * the library.
 */
public enum AttachMode {
  /**
   * The agent attaches when it starts. The Spring Boot starter attaches after the application's
   * context is refreshed, on a thread that nothing waits for.
   */
  AUTO,

  /**
   * The agent attaches when it starts. The Spring Boot starter attaches in parallel with the start
   * of Spring Boot; the creation of beans waits at most a second for the attach.
   */
  EARLY,

  /** The agent and the starter do not attach. */
  OFF
}
