package io.mallometer.junit;

/** The threads whose native memory is measured. */
public enum Of {
  /**
   * The thread that runs the test: the calls of malloc in this thread, and the call sites whose
   * stacks lead through the test's class. Exact, whatever other threads do.
   */
  TEST,

  /**
   * All threads. Call sites of HotSpot, of mallometer and of the test framework are left out;
   * counters include them.
   */
  PROCESS
}
