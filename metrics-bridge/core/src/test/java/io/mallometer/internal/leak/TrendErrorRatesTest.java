package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** How often call sites are said to grow that do not, and the reverse: {@code docs/leaks.md}. */
class TrendErrorRatesTest {

  private static final int POINTS = 32;
  private static final double FLOOR = 300;
  private static final double HOUR = 3_600;
  private static final double MIB = 1 << 20;

  /** One sampled object in ten; each stands for a mebibyte. */
  private static final double PROBABILITY = 0.1;

  /** Each order of figures without a trend is as likely, and of 8 those can be counted. */
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
                count += Trend.perSecond(seconds, series.noise(8, 0), 0) > 0 ? 1 : 0;
              }
              return count;
            });

    assertThat(most).isBetween(0.0155, 0.0156);
    assertThat(said).isBetween(0.001, most);
  }

  /** How many orders of as many figures have at most so many pairs that fall. */
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

  @Test
  void sitesThatHoldAsMuchAsBeforeDoNotGrow() {
    assertThat(saidOfSamples("20 samples, replaced in 6 min", 200, 0.1)).isLessThan(0.005);
    assertThat(saidOfSamples("20 samples, replaced in 40 min", 30, 2 / 3.0)).isLessThan(0.005);
    assertThat(saidOfSamples("100 samples, replaced in 40 min", 150, 2 / 3.0)).isLessThan(0.01);
    assertThat(saidOfSamples("100 samples, replaced in 20 min", 300, 1 / 3.0)).isLessThan(0.01);
  }

  @Test
  void sitesThatLevelOffOrSwingDoNotGrow() {
    assertThat(said("warming up", one -> one.noisy(POINTS, one.warmingUp(), 0.01, 0)))
        .isLessThan(0.01);
    assertThat(said("a pool's sawtooth", one -> one.noisy(POINTS, one.sawtooth(0.5), 0.01, 0)))
        .isLessThan(0.01);
    assertThat(said("a table that is loaded", one -> one.noisy(POINTS, one.tables(1), 0.01, 0)))
        .isLessThan(0.01);
  }

  @Test
  void sitesThatLeakGrow() {
    double never = Double.POSITIVE_INFINITY;
    assertThat(saidOfSamples("a leak of 30 samples an hour", 30, never)).isGreaterThan(0.85);
    assertThat(saidOfSamples("a leak of 100 samples an hour", 100, never)).isGreaterThan(0.98);
  }

  /** A quarter of what is live, and a mebibyte. */
  @Test
  void whatIsExactHasToGrowByEnough() {
    assertThat(saidOfExact("10 MiB that grow by 3", time -> 10 + 3 * time)).isZero();
    assertThat(saidOfExact("10 MiB that grow by 4", time -> 10 + 4 * time)).isEqualTo(1);
    assertThat(saidOfExact("a site of 0.9 MiB", time -> 0.9 * time)).isZero();
    assertThat(saidOfExact("a site of 1.1 MiB", time -> 1.1 * time)).isEqualTo(1);
  }

  private static double saidOfExact(String name, DoubleUnaryOperator mebibytes) {
    return said(name, 1, 0, one -> one.noisy(POINTS, mebibytes, 0, 0));
  }

  private static double saidOfSamples(String name, double births, double life) {
    return said(name, 1, 1 - PROBABILITY, one -> one.samples(POINTS, births, life));
  }

  /** Of sites that hold up to 100 MiB of 400 samples. */
  private static double said(String name, Function<SimulatedSeries, double[]> figures) {
    return said(name, 100, 25, figures);
  }

  /**
   * Of sites whose figures are in units of such a size.
   *
   * @param variance of a figure of 1, in square mebibytes
   */
  private static double said(
      String name, double mebibytes, double variance, Function<SimulatedSeries, double[]> figures) {
    return SimulatedSeries.share(
        name,
        series -> {
          List<double[]> all = new ArrayList<>();
          for (int site = 0; site < SimulatedSeries.RUNS; site++) {
            all.add(figures.apply(series));
          }
          LiveTrend trend = new LiveTrend(FLOOR);
          List<CallSite> latest = new ArrayList<>();
          for (int point = 0; point < POINTS; point++) {
            latest.clear();
            for (int site = 0; site < all.size(); site++) {
              double figure = all.get(site)[point];
              latest.add(site(site, mebibytes * MIB * figure, variance * MIB * MIB * figure));
            }
            trend.add(SitesByHand.reading(Instant.EPOCH, latest), point * HOUR / (POINTS - 1));
          }
          return (int) latest.stream().filter(one -> trend.growthBytesPerHour(one) > 0).count();
        });
  }

  private static CallSite site(int number, double bytes, double variance) {
    return new CallSite(
        number,
        List.of(),
        "Cache.fill",
        "lib.so",
        1,
        Estimate.ZERO,
        Estimate.ZERO,
        Estimate.ZERO,
        new Estimate(bytes, variance, 1),
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }
}
