package io.mallometer.model;

import java.time.Duration;

/**
 * The longest pauses of the program during a search for the Java objects that hold native memory. A
 * search that is estimated to take longer is refused.
 *
 * @param pause the pause of each walk over the heap; zero forbids all searches
 * @param total the sum of the pauses of a search
 */
public record OwnerBudget(Duration pause, Duration total) {

  /** Returns the budget that the options state. */
  public static OwnerBudget of(MallometerOptions options) {
    return new OwnerBudget(
        options.get(Setting.OWNERS_MAX_PAUSE), options.get(Setting.OWNERS_MAX_TOTAL_PAUSE));
  }

  public OwnerBudget {
    if (pause.isNegative() || total.isNegative()) {
      throw new IllegalArgumentException(
          "the pauses of a search are %s and %s, and cannot be negative".formatted(pause, total));
    }
  }
}
