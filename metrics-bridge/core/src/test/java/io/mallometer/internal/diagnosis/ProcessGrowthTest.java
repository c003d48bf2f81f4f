package io.mallometer.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.mallometer.internal.leak.SimulatedSeries;
import io.mallometer.model.HistoryPoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Measures how often a process of constant size is said to grow, and how often growth is not
 * detected. {@code docs/explanation/diagnosis.md} states these shares.
 */
@Tag("any-jdk")
class ProcessGrowthTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration STEP = Duration.ofSeconds(30);
  private static final double LEVEL = 200 << 20;

  private static final int POINTS = 57;

  private static final double UNKNOWN = Double.NaN;

  @Test
  void noiseIsNoGrowth() {
    assertThat(said("noise of 20 %", flat(0.2, 0))).isLessThan(0.005);
    assertThat(said("noise of 20 % that lasts 3 min", flat(0.2, 0.1))).isLessThan(0.01);
    assertThat(said("noise of 20 % that lasts 9 min", flat(0.2, 1 / 3.0))).isLessThan(0.05);
  }

  @Test
  void whatLevelsOffOrSwingsDoesNotGrow() {
    assertThat(said("warming up", one -> one.noisy(POINTS, one.warmingUp(), 0.01, 0)))
        .isLessThan(0.005);
    assertThat(said("a pool's sawtooth", one -> one.noisy(POINTS, one.sawtooth(0.5), 0.01, 0)))
        .isLessThan(0.005);
    assertThat(said("a table that is loaded", one -> one.noisy(POINTS, one.tables(1), 0.01, 0)))
        .isLessThan(0.01);
  }

  @Test
  void whatRisesForMostOfTheTimeMayBeSaidToGrow() {
    assertThat(said("two tables", one -> one.noisy(POINTS, one.tables(2), 0.01, 0)))
        .isLessThan(0.12);
    assertThat(said("three tables", one -> one.noisy(POINTS, one.tables(3), 0.01, 0)))
        .isLessThan(0.35);
    assertThat(said("a slow sawtooth", one -> one.noisy(POINTS, one.sawtooth(1.5), 0.01, 0)))
        .isLessThan(0.2);
  }

  @Test
  void slowGrowthIsSeen() {
    assertThat(said("10 MiB, noise of 1 MiB", growing(0.05, 0.005))).isGreaterThan(0.96);
    assertThat(said("20 MiB, noise of 4 MiB", growing(0.1, 0.02))).isGreaterThan(0.68);
    assertThat(said("60 MiB, noise of 10 MiB", growing(0.3, 0.05))).isGreaterThan(0.75);
  }

  /** Memory grows by 20 MiB in 28 minutes. Every seventh point is 60 MiB too high. */
  @Test
  void aFewHighPointsDoNotMoveTheSlope() {
    double[] bytes = new double[POINTS];
    for (int i = 0; i < POINTS; i++) {
      bytes[i] = 1 + 0.1 * i / (POINTS - 1) + (i % 7 == 3 ? 0.3 : 0);
    }
    assertThat(trend(bytes)).isCloseTo(0.1 * LEVEL / (28 * 60), withinPercentage(5));
  }

  private static Function<SimulatedSeries, double[]> flat(double deviation, double memory) {
    return one -> one.noisy(POINTS, time -> 1, deviation, memory);
  }

  private static Function<SimulatedSeries, double[]> growing(double share, double deviation) {
    DoubleUnaryOperator line = time -> 1 + share * time;
    return one -> one.noisy(POINTS, line, deviation, 0);
  }

  private static double said(String name, Function<SimulatedSeries, double[]> shares) {
    return SimulatedSeries.share(
        name,
        series -> {
          int count = 0;
          for (int run = 0; run < SimulatedSeries.RUNS; run++) {
            count += trend(shares.apply(series)) > 0 ? 1 : 0;
          }
          return count;
        });
  }

  /**
   * Returns the growth in bytes per second; NaN unless the growth is lasting. The memory is given
   * as a share of 200 MiB.
   */
  private static double trend(double[] shares) {
    List<HistoryPoint> history = new ArrayList<>();
    history.add(point(START, shares[0]));
    Instant time = START.plusSeconds(120);
    for (double share : shares) {
      history.add(point(time, share));
      time = time.plus(STEP);
    }
    return ProcessGrowth.of(
            history, HistoryPoint::liveBytes, START.plusSeconds(120), ProcessGrowth.FEWEST_FALLS)
        .filter(ProcessGrowth::isLasting)
        .map(growth -> growth.slope().value())
        .orElse(Double.NaN);
  }

  private static HistoryPoint point(Instant time, double share) {
    return new HistoryPoint(
        time,
        LEVEL * share,
        LEVEL * share,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        Double.NaN,
        Double.NaN,
        UNKNOWN);
  }
}
