package io.mallometer.junit;

/** Whose native memory is measured. */
public enum Of {
  /**
   * The thread that runs the test: calls of malloc in this thread, and of call sites those whose
   * stacks lead through the test's class. Exact, and the same whatever other threads do.
   */
  TEST,

  /**
   * All threads. Of call sites those of HotSpot, of mallometer and of the test framework are left
   * out, but counters have them, too.
   */
  PROCESS
}
