package io.mallometer.junit;

/**
 * The thread that runs the test: its calls of malloc, and the call sites whose stacks contain the
 * test's class.
 */
public enum Of {
  /**
   * The thread that runs the test: its calls of malloc, and the call sites whose stacks contain the
   * test's class. Other threads do not affect these figures.
   */
  TEST,

  /** The whole process. Call sites exclude HotSpot, mallometer and JUnit; counters include them. */
  PROCESS
}
