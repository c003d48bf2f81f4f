package io.mallometer.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.HistoryPoint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class SawtoothTest {

  private static final double MIB = 1 << 20;
  private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

  @Test
  void whatFallsBackHasATroughAfterEachFall() {
    Sawtooth teeth = of(1_200, second -> 38 + 66.0 * (second % 300) / 300);

    assertThat(teeth.falls()).isBetween(1, 2);
    assertThat(teeth.troughs()).hasSize(3);
    assertThat(teeth.troughs())
        .allSatisfy(point -> assertThat(point.liveBytes()).isLessThan(45 * MIB));
  }

  @Test
  void growthAndNoiseAreNoSwings() {
    assertThat(of(1_200, second -> 38 + second / 10.0).falls()).isZero();
    assertThat(of(1_200, second -> 38 + (second / 5 % 2) * 5).falls()).isZero();
    assertThat(of(1_200, second -> second == 600 ? 500 : 38 + second / 10.0).falls()).isZero();
  }

  @Test
  void nothingHasNoSwings() {
    assertThat(Sawtooth.of(List.of(), HistoryPoint::liveBytes).falls()).isZero();
  }

  private static Sawtooth of(long seconds, LongToDoubleFunction mebibytes) {
    List<HistoryPoint> points = new ArrayList<>();
    for (long second = 0; second < seconds; second += 5) {
      double bytes = mebibytes.applyAsDouble(second) * MIB;
      points.add(
          new HistoryPoint(
              START.plusSeconds(second), bytes, bytes, 0, 0, 0, bytes, 0, 0, bytes, bytes, 0));
    }
    return Sawtooth.of(points, HistoryPoint::liveBytes);
  }
}
