package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Measures how often {@link Trend} finds growth in series that do not grow. */
@Tag("any-jdk")
class TrendErrorRatesTest {

  /**
   * The series has no trend, so all orders of its 8 numbers are equally likely. It is called
   * growing only if the later number is larger in at least 80 % of all pairs. The share of orders
   * that fulfil this condition is therefore an upper limit of the probability of a false alarm.
   */
  @Test
  void ofNoiseNoMoreIsCalledGrowthThanOrdersOfWhichFourOfFivePairsRise() {
    double most = ordersWithFallingPairs(8, 28 / 5) / 40_320.0;

    double said =
        SimulatedSeries.share(
            "8 figures without a trend",
            series -> {
              int count = 0;
              for (int run = 0; run < SimulatedSeries.RUNS; run++) {
                double[] seconds = {0, 1, 2, 3, 4, 5, 6, 7};
                count += Trend.slope(seconds, series.noise(8, 0), 0).lower() > 0 ? 1 : 0;
              }
              return count;
            });

    assertThat(most).isBetween(0.0155, 0.0156);
    assertThat(said).isBetween(0.001, most);
  }

  /**
   * Returns how many permutations of {@code figures} numbers have at most {@code most} inversions,
   * which are pairs in which the later number is smaller.
   */
  private static long ordersWithFallingPairs(int figures, int most) {
    long[] orders = new long[most + 1];
    orders[0] = 1;
    for (int placed = 1; placed < figures; placed++) {
      long[] more = new long[most + 1];
      for (int falling = 0; falling <= most; falling++) {
        for (int overtaken = 0; overtaken <= Math.min(placed, falling); overtaken++) {
          more[falling] += orders[falling - overtaken];
        }
      }
      orders = more;
    }
    long sum = 0;
    for (long one : orders) {
      sum += one;
    }
    return sum;
  }
}
