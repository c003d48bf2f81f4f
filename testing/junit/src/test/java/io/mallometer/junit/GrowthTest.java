package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class GrowthTest {

  private static final int RUNS = 20;
  private static final int SERIES = 2_000;

  private static double[] series(IntToDoubleFunction level) {
    return IntStream.rangeClosed(0, RUNS).mapToDouble(level).toArray();
  }

  @Test
  void sameAmountEachRunIsGrowthWithThatSlopeAndNoUncertainty() {
    Growth growth = Growth.of(series(i -> 5_000 + 1_032 * i), 0);
    assertThat(growth).isEqualTo(new Growth(true, 1_032, 1_032, 1_032, 1_032, 1_032, 1_032));
  }

  /**
   * The 20 runs kept 1, 2, ... 20 KiB. The interval of the median omits five runs at each end,
   * because (20 - 1.96 * sqrt(20)) / 2 = 5.6. It extends from 6 to 15 KiB.
   */
  @Test
  void intervalOfWhatRunsKeepIsTheOneWorkedOutByHand() {
    Growth growth = Growth.of(series(i -> 512 * i * (i + 1)), 0);
    assertThat(growth)
        .isEqualTo(
            new Growth(true, 6 * 1_024, 11 * 1_024, 15 * 1_024, 1_024, 11 * 1_024, 20 * 1_024));
  }

  /**
   * The sorted slopes between all pairs of values are -100, 0, 100 (ten times), 166.7, 200 and 300.
   *
   * <p>The interval of their median omits two slopes at each end, because (15 - 1.96 * sqrt(6 * 5 *
   * 17 / 18)) / 2 = 2.28. It extends from 100 to 166.7.
   */
  @Test
  void slopeOfARestlessSeriesIsTheOneWorkedOutByHand() {
    Growth growth = Growth.of(new double[] {0, 100, 0, 300, 400, 500}, 0);
    assertThat(growth.found()).isTrue();
    assertThat(growth.slope()).isEqualTo(100);
    assertThat(growth.lower()).isEqualTo(100);
    assertThat(growth.upper()).isEqualTo(500 / 3.0, within(1e-9));
    assertThat(growth.smallest()).isEqualTo(-100);
    assertThat(growth.median()).isEqualTo(100);
    assertThat(growth.largest()).isEqualTo(300);
  }

  @Test
  void nothingKeptIsNoGrowth() {
    assertThat(Growth.of(series(i -> 7_777), 0).found()).isFalse();
  }

  @Test
  void oneStepIsNoGrowthWhereverItIs() {
    for (int at = 0; at <= RUNS; at++) {
      int step = at;
      assertThat(Growth.of(series(i -> i < step ? 0 : 1_000_000), 0).found()).isFalse();
    }
  }

  @Test
  void cacheThatFillsUpIsNoGrowth() {
    assertThat(Growth.of(series(i -> 1_000 * Math.min(i, 12)), 0).found()).isFalse();
  }

  @Test
  void sawtoothIsNoGrowth() {
    assertThat(Growth.of(series(i -> 1_000 * (i % 5)), 0).found()).isFalse();
  }

  @Test
  void leakInEveryThirdRunIsGrowth() {
    assertThat(Growth.of(series(i -> 1_032 * (i / 3)), 0).found()).isTrue();
  }

  @Test
  void whatIsAllowedIsNoGrowthAndOneByteMoreIs() {
    assertThat(Growth.of(series(i -> 1_032 * i), 1_032).found()).isFalse();
    Growth growth = Growth.of(series(i -> 1_032 * i), 1_031);
    assertThat(growth.found()).isTrue();
    assertThat(growth.slope()).isEqualTo(1_032);
  }

  @Test
  void fewestRunsAreEnough() {
    double[] live = IntStream.rangeClosed(0, Growth.FEWEST).mapToDouble(i -> 64 * i).toArray();
    assertThat(Growth.of(live, 0).found()).isTrue();
  }

  /** Memory rises in a run with a probability of 5 %. */
  @Test
  void rareStepsOfACleanTestAreHardlyEverGrowthTwice() {
    Random random = new Random(1);
    int found = 0;
    for (int i = 0; i < SERIES; i++) {
      found += steps(random, 0.05) && steps(random, 0.05) ? 1 : 0;
    }
    assertThat(found).as("of " + SERIES).isLessThanOrEqualTo(2);
  }

  /** The runs each leak 1 KiB, in addition to the random steps. */
  @Test
  void leakBesideRareStepsIsFound() {
    Random random = new Random(2);
    int found = 0;
    for (int i = 0; i < SERIES; i++) {
      double[] noise = walk(random, 0.05);
      found += Growth.of(series(run -> noise[run] + 1_024 * run), 0).found() ? 1 : 0;
    }
    assertThat(found).as("of " + SERIES).isGreaterThanOrEqualTo(SERIES - 2);
  }

  private static boolean steps(Random random, double probability) {
    double[] walk = walk(random, probability);
    return Growth.of(walk, 0).found();
  }

  private static double[] walk(Random random, double probability) {
    double[] live = new double[RUNS + 1];
    for (int i = 1; i <= RUNS; i++) {
      double step = random.nextDouble() < probability ? 64 << random.nextInt(10) : 0;
      live[i] = live[i - 1] + step;
    }
    return live;
  }

  @Test
  void steadyIsWhereFourRunsAreAlike() {
    assertThat(Growth.isSteady(new double[] {0, 900, 900, 900, 900})).isFalse();
    assertThat(Growth.isSteady(new double[] {0, 900, 900, 900, 900, 900})).isTrue();
    assertThat(Growth.isSteady(new double[] {0, 1_000, 2_000, 3_000, 4_000})).isTrue();
    assertThat(Growth.isSteady(new double[] {0, 0, 0, 0})).isFalse();
  }
}
