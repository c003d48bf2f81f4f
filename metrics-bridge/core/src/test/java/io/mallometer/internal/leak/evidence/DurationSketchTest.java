package io.mallometer.internal.leak.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class DurationSketchTest {

  @Test
  void bucketsBeginAtHalfOctaves() {
    assertThat(DurationSketch.bucket(0)).isZero();
    assertThat(DurationSketch.bucket(0.022)).isZero();
    assertThat(DurationSketch.bucket(0.0222)).isEqualTo(1);
    assertThat(DurationSketch.bucket(1)).isEqualTo(12);
    assertThat(DurationSketch.bucket(1.41)).isEqualTo(12);
    assertThat(DurationSketch.bucket(1.42)).isEqualTo(13);
    assertThat(DurationSketch.bucket(1e12)).isEqualTo(47);
    for (int bucket = 1; bucket < DurationSketch.BUCKETS; bucket++) {
      assertThat(DurationSketch.bucket(DurationSketch.lowerBound(bucket) * 1.001))
          .isEqualTo(bucket);
    }
  }

  @Test
  void quantilesAreWithinABucketOfTheTruth() {
    float[] weights = new float[DurationSketch.BUCKETS];
    for (int i = 1; i <= 1_000; i++) {
      weights[DurationSketch.bucket(i)] += 1;
    }
    DurationSketch durations = new DurationSketch(1_000, weights);
    assertThat(durations.quantile(0.5)).isCloseTo(500, within(60.0));
    assertThat(durations.quantile(0.95)).isCloseTo(950, within(60.0));
  }

  @Test
  void quantilesGoByWeight() {
    float[] weights = new float[DurationSketch.BUCKETS];
    weights[DurationSketch.bucket(1)] = 99;
    weights[DurationSketch.bucket(100)] = 1;
    DurationSketch durations = new DurationSketch(2, weights);
    assertThat(durations.quantile(0.95)).isLessThan(1.5);
    assertThat(durations.quantile(0.995)).isGreaterThan(90);
  }

  @Test
  void nothingHasNoQuantile() {
    assertThat(DurationSketch.NONE.quantile(0.95)).isZero();
  }
}
