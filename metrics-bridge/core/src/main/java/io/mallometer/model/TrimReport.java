package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.Optional;

/** The result of a request to trim the allocator. */
public record TrimReport(
    @Figure("Whether the allocator was trimmed") Outcome outcome,
    @Figure("One sentence; for a refusal why, and when it is possible again") String explanation,
    @Figure("When the trim ended") Instant time,
    @Figure(
            value = "The resident set of the process before; absent if unknown or not " + "done",
            unit = BYTES)
        double residentBeforeBytes,
    @Figure(value = "The resident set after; absent if unknown or not done", unit = BYTES)
        double residentAfterBytes,
    @Figure(value = "How long it took", unit = SECONDS) double seconds,
    @Figure("From when on a trim is not refused as too early; empty where it never is " + "done")
        Optional<Instant> nextPossible) {

  /** The outcome of a request to trim the allocator. */
  public enum Outcome {
    /** The trim took place: the allocator returned the memory that it could. */
    DONE,
    /** The trim is not possible now: the previous one was too recent, or another one is running. */
    REFUSED,
    /** The native library is missing, or the allocator cannot trim. */
    UNSUPPORTED
  }

  /**
   * Returns the bytes by which the resident set shrank during the trim; negative if it grew; {@code
   * NaN} if unknown.
   */
  @Figure(
      value = "By how much the resident set shrank; negative if others took more meanwhile",
      unit = BYTES)
  public double returnedBytes() {
    return residentBeforeBytes - residentAfterBytes;
  }
}
