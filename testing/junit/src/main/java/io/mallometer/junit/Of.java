package io.mallometer.junit;

/** The threads whose native memory is measured. */
public enum Of {
  /**
   * The thread that runs the test: its calls of malloc, and the call sites whose stacks contain the
   * test's class.
   */
  TEST,

  /** The whole process. Call sites exclude HotSpot, mallometer and JUnit; counters include them. */
  PROCESS
}
