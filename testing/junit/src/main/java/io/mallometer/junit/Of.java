package io.mallometer.junit;

/** The threads whose native memory is measured. */
public enum Of {
  /**
   * The thread that runs the test. Counters include the calls of malloc in this thread. Call sites
   * are those with a stack that contains the test's class.
   */
  TEST,

  /** The whole process. Call sites exclude HotSpot, mallometer and JUnit; counters include them. */
  PROCESS
}
