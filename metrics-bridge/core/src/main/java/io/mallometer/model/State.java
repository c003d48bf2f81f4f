package io.mallometer.model;

/** The state of the native library: whether it counts allocations, or why it does not. */
public enum State {
  /** The library serves the process's calls of malloc and counts the allocations. */
  ACTIVE,

  /**
   * Counting is switched off by {@code MALLOMETER_ENABLED}, {@code MALLOMETER_ONLY} or a native
   * call of {@code mallometer_disable()}.
   */
  DISABLED,

  /** The library is absent or cannot be reached; {@link Status#reason()} says why. */
  UNAVAILABLE
}
