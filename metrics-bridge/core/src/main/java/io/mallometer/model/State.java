package io.mallometer.model;

/** Whether native allocations are counted. */
public enum State {
  /** The library is this process's malloc and counts. */
  ACTIVE,

  /**
   * The library was told not to count: by {@code MALLOMETER_ENABLED=false}, by {@code
   * MALLOMETER_ONLY}, or by a native caller of {@code mallometer_disable()}.
   */
  DISABLED,

  /** The library is not there or cannot be reached; {@link Status#reason()} says why. */
  UNAVAILABLE
}
