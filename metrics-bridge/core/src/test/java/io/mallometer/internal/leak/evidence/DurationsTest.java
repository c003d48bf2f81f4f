package io.mallometer.internal.leak.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DurationsTest {

  @Test
  void bucketsBeginAtHalfOctaves() {
    assertThat(Durations.bucket(0)).isZero();
    assertThat(Durations.bucket(0.022)).isZero();
    assertThat(Durations.bucket(0.0222)).isEqualTo(1);
    assertThat(Durations.bucket(1)).isEqualTo(12);
    assertThat(Durations.bucket(1.41)).isEqualTo(12);
    assertThat(Durations.bucket(1.42)).isEqualTo(13);
    assertThat(Durations.bucket(1e12)).isEqualTo(47);
    for (int bucket = 1; bucket < Durations.BUCKETS; bucket++) {
      assertThat(Durations.bucket(Durations.lowerBound(bucket) * 1.001)).isEqualTo(bucket);
    }
  }

  @Test
  void quantilesAreWithinABucketOfTheTruth() {
    float[] weights = new float[Durations.BUCKETS];
    for (int i = 1; i <= 1_000; i++) {
      weights[Durations.bucket(i)] += 1;
    }
    Durations durations = new Durations(1_000, weights);
    assertThat(durations.quantile(0.5)).isCloseTo(500, within(60.0));
    assertThat(durations.quantile(0.95)).isCloseTo(950, within(60.0));
  }

  @Test
  void quantilesGoByWeight() {
    float[] weights = new float[Durations.BUCKETS];
    weights[Durations.bucket(1)] = 99;
    weights[Durations.bucket(100)] = 1;
    Durations durations = new Durations(2, weights);
    assertThat(durations.quantile(0.95)).isLessThan(1.5);
    assertThat(durations.quantile(0.995)).isGreaterThan(90);
  }

  @Test
  void nothingHasNoQuantile() {
    assertThat(Durations.NONE.quantile(0.95)).isZero();
  }
}
