package io.mallometer.internal.owner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PauseEstimateTest {

  private static final double GIB = 1L << 30;

  @Test
  void aWalkTakesAsLongAsTheHeapIsLarge() {
    PauseEstimate usual = new PauseEstimate(2 * GIB, false, 1, 1);
    assertThat(usual.seconds(false)).isEqualTo(2.42, within(0.001));
    assertThat(usual.seconds(true)).isEqualTo(10.02, within(0.001));
    assertThat(new PauseEstimate(2 * GIB, true, 1, 1).seconds(false))
        .isEqualTo(5.62, within(0.001));
  }

  @Test
  void halfAProcessorTakesTwiceAsLong() {
    assertThat(new PauseEstimate(GIB, false, 2, 1).seconds(false)).isEqualTo(2.44, within(0.001));
  }

  @Test
  void theFirstWalkCorrectsTheNext() {
    PauseEstimate before = new PauseEstimate(GIB, false, 1, 1);
    double correction = before.corrected(false, 0.61);
    assertThat(new PauseEstimate(GIB, false, 1, correction).seconds(true))
        .isEqualTo(2.51, within(0.001));
  }

  @Test
  void aWalkTakesABitSetOfTheHeap() {
    assertThat(PauseEstimate.memoryBytes(64 * GIB)).isEqualTo(GIB + (20 << 20));
  }
}
