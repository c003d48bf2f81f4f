package io.mallometer.model;

import java.time.Duration;

/**
 * For how long a search for the Java objects that hold native memory may stop the program. A search
 * that is estimated to need more is refused.
 *
 * @param pause for each walk over the heap; zero forbids all searches
 * @param total for all walks of a search
 */
public record OwnerBudget(Duration pause, Duration total) {

  /** A second for each walk, and five in all. */
  public static OwnerBudget defaults() {
    return new OwnerBudget(Duration.ofSeconds(1), Duration.ofSeconds(5));
  }

  public OwnerBudget {
    if (pause.isNegative() || total.isNegative()) {
      throw new IllegalArgumentException(
          "the pauses of a search are %s and %s, and cannot be negative".formatted(pause, total));
    }
  }
}
