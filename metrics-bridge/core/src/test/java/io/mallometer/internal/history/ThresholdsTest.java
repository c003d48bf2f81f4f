package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ThresholdsTest {

  private final Thresholds thresholds = new Thresholds();

  @Test
  void eachIsToldOnceOnTheWayUp() {
    crosses(0.84, 0);
    crosses(0.86, 85);
    crosses(0.87, 0);
    crosses(0.91, 90);
    crosses(0.99, 95);
    crosses(1.00, 0);
  }

  @Test
  void aJumpTellsAllThatItPassed() {
    assertThat(thresholds.crossedBy(0.97)).containsExactly(85, 90, 95);
    crosses(0.97, 0);
  }

  @Test
  void swingingAroundOneTellsItOnce() {
    crosses(0.86, 85);
    for (int i = 0; i < 100; i++) {
      crosses(0.84, 0);
      crosses(0.86, 0);
    }
  }

  @Test
  void comingBackFromFarBelowTellsItAgain() {
    crosses(0.86, 85);
    crosses(0.79, 0);
    crosses(0.86, 85);
  }

  @Test
  void withoutALimitNothingIsCrossed() {
    crosses(Double.NaN, 0);
    crosses(0.86, 85);
    crosses(Double.NaN, 0);
    crosses(0.86, 0);
  }

  private void crosses(double share, int percent) {
    assertThat(thresholds.wouldCross(share)).isEqualTo(percent != 0);
    assertThat(thresholds.crossedBy(share)).isEqualTo(percent == 0 ? List.of() : List.of(percent));
  }
}
