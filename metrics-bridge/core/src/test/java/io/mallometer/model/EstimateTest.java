package io.mallometer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class EstimateTest {

  @Test
  void anExactValueIsItsOwnInterval() {
    Estimate exact = new Estimate(4096, 0, 4);

    assertThat(exact.low()).isEqualTo(4096);
    assertThat(exact.high()).isEqualTo(4096);
  }

  /**
   * Tables of the chi-squared distribution give 9.591 (2.5 %, 20 degrees of freedom) and 39.364
   * (97.5 %, 24 degrees of freedom).
   */
  @Test
  void tenEqualSamplesAreTenEvents() {
    Estimate ten = new Estimate(10 * 100, 10 * 100 * 100, 10);

    assertThat(ten.low()).isCloseTo(50 * 9.591, within(1.0));
    assertThat(ten.high()).isCloseTo(50 * 39.364, within(2.0));
  }

  @Test
  void manySamplesAreNormal() {
    Estimate many = new Estimate(1e9, 1e12, 100_000);

    assertThat(many.low()).isCloseTo(1e9 - 1.96e6, within(1e4));
    assertThat(many.high()).isCloseTo(1e9 + 1.96e6, within(1e4));
  }

  /** If 3.69 events are expected, the probability that none happens is 2.5 %. */
  @Test
  void withoutSamplesThereMayStillBeSome() {
    Estimate none = new Estimate(0, 100 * 100, 0);

    assertThat(none.low()).isZero();
    assertThat(none.high()).isCloseTo(369, within(1.0));
  }

  @Test
  void fewSamplesNeverReachBelowNothing() {
    assertThat(new Estimate(100, 10_000, 1).low()).isBetween(0.0, 10.0);
  }

  /**
   * The site has only one sample, so its interval would reach far beyond the 300 MiB that are live
   * in the whole process.
   */
  @Test
  void noIntervalReachesBeyondTheWhole() {
    Estimate few = new Estimate(9_216, 1e14, 1);
    assertThat(few.high()).isGreaterThan(77e9 / 2);

    assertThat(few.atMost(300 << 20).high()).isEqualTo(300 << 20);
    assertThat(few.atMost(300 << 20).low()).isEqualTo(few.low());
    assertThat(few.atMost(300 << 20).plus(few.atMost(300 << 20)).high()).isEqualTo(300 << 20);
    assertThat(few.atMost(1_000).high())
        .as("a bound below the estimate is of an older count, and does not apply")
        .isEqualTo(9_216);
    assertThat(few.atMost(Double.NaN).high()).isEqualTo(few.high());
  }

  @Test
  void unknownStaysUnknown() {
    Estimate unknown = new Estimate(Double.NaN, Double.NaN, 0);

    assertThat(unknown.low()).isNaN();
    assertThat(unknown.high()).isNaN();
  }
}
