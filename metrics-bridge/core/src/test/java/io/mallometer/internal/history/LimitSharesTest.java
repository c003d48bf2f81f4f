package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class LimitSharesTest {

  private final LimitShares thresholds = new LimitShares();

  @Test
  void eachIsToldOnceOnTheWayUp() {
    exceeds(0.84, 0);
    exceeds(0.86, 85);
    exceeds(0.87, 0);
    exceeds(0.91, 90);
    exceeds(0.99, 95);
    exceeds(1.00, 0);
  }

  @Test
  void aJumpTellsAllThatItPassed() {
    assertThat(thresholds.exceededBy(0.97)).containsExactly(85, 90, 95);
    exceeds(0.97, 0);
  }

  @Test
  void swingingAroundOneTellsItOnce() {
    exceeds(0.86, 85);
    for (int i = 0; i < 100; i++) {
      exceeds(0.84, 0);
      exceeds(0.86, 0);
    }
  }

  @Test
  void comingBackFromFarBelowTellsItAgain() {
    exceeds(0.86, 85);
    exceeds(0.79, 0);
    exceeds(0.86, 85);
  }

  @Test
  void withoutALimitNothingIsExceeded() {
    exceeds(Double.NaN, 0);
    exceeds(0.86, 85);
    exceeds(Double.NaN, 0);
    exceeds(0.86, 0);
  }

  private void exceeds(double share, int percent) {
    assertThat(thresholds.wouldExceed(share)).isEqualTo(percent != 0);
    assertThat(thresholds.exceededBy(share)).isEqualTo(percent == 0 ? List.of() : List.of(percent));
  }
}
