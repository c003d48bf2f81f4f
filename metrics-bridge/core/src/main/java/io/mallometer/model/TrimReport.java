package io.mallometer.model;

import java.time.Instant;
import java.util.Optional;

/**
 * Result of an attempt to trim.
 *
 * @param outcome whether it was done
 * @param explanation one sentence; for a refusal why, and when it is possible again
 * @param time when it ended
 * @param residentBeforeBytes the resident set of the process before; {@code NaN} if unknown or not
 *     done
 * @param residentAfterBytes the same after
 * @param seconds how long it took
 * @param nextPossible from when on a trim is not refused as too early; empty where it never is done
 */
public record TrimReport(
    Outcome outcome,
    String explanation,
    Instant time,
    double residentBeforeBytes,
    double residentAfterBytes,
    double seconds,
    Optional<Instant> nextPossible) {

  /** Returns whether the allocator was asked to give memory back. */
  public enum Outcome {
    /** It was. */
    DONE,
    /** Not now: too early, or another trim is running. */
    REFUSED,
    /** There is no native library, or the allocator cannot. */
    UNSUPPORTED
  }

  /**
   * Returns the bytes by which the resident set shrank; negative if other threads took more during
   * the trim than came back; {@code NaN} if unknown.
   */
  public double returnedBytes() {
    return residentBeforeBytes - residentAfterBytes;
  }
}
