package io.mallometer.model;

/** Time at which a program that was started without the library begins to count native memory. */
public enum AttachMode {
  /**
   * The agent: when it starts. The Spring Boot starter: after the application's context is
   * refreshed, on a thread that nothing waits for.
   */
  AUTO,

  /**
   * The agent: when it starts. The Spring Boot starter: in parallel with the start of Spring Boot,
   * before beans are created, which waits for it for at most a second.
   */
  EARLY,

  /** Never. */
  OFF
}
