package io.mallometer.model;

/** The state of the native library: whether it counts allocations, or why it does not. */
public enum State {
  /** The library is this process's malloc and counts. */
  ACTIVE,

  /**
   * The library was told not to count: by {@code MALLOMETER_ENABLED=false}, by {@code
   * MALLOMETER_ONLY}, or by a native caller of {@code mallometer_disable()}.
   */
  DISABLED,

  /** The library is absent or cannot be reached; {@link Status#reason()} says why. */
  UNAVAILABLE
}
