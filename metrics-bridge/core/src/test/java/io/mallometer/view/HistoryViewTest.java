package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.ChargedPart;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.ResidentPart;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class HistoryViewTest {

  /** The view contains the sums, so that the page need not compute them. */
  @Test
  void theSumOfThePartsIsBesideThemAndUnknownWhereTheyAre() {
    MemoryMoment before = new MemoryMoment(Instant.EPOCH, Map.of(), Map.of(), Double.NaN);
    MemoryMoment after =
        new MemoryMoment(
            Instant.EPOCH,
            Map.of(ResidentPart.MALLOC_LIVE, 7L, ResidentPart.JAVA_HEAP, 9L),
            Map.of(ChargedPart.KERNEL, 6L),
            100);

    HistoryView.Memory memory = HistoryView.of(List.of(before, after), List.of()).memory();

    assertThat(memory.residentBytes()).containsExactly(Double.NaN, 16.0);
    assertThat(memory.chargedBytes()).containsExactly(Double.NaN, 6.0);
  }

  /**
   * The counters restart from zero after the third point, the next two points have the same time,
   * and the clock is set back before the last point.
   */
  @Test
  void aRateIsUnknownWhereCountersBeginAnewAndWhereNoTimeHasPassed() {
    HistoryView.Malloc malloc =
        HistoryView.of(
                List.of(),
                List.of(
                    point(0, 0),
                    point(10, 50),
                    point(20, 74),
                    point(30, 4),
                    point(30, 6),
                    point(25, 3)))
            .malloc();

    assertThat(malloc.allocationsPerSecond())
        .containsExactly(Double.NaN, 5.0, 2.0, Double.NaN, Double.NaN, Double.NaN);
    assertThat(malloc.allocatedBytesPerSecond())
        .containsExactly(Double.NaN, 500.0, 240.0, Double.NaN, Double.NaN, Double.NaN);
  }

  /** Returns a point at which each allocation had 100 bytes. */
  private static HistoryPoint point(long second, double allocations) {
    return new HistoryPoint(
        Instant.ofEpochSecond(second), 0, 0, 0, allocations, 100 * allocations, 0, 0, 0, 0, 0, 0);
  }
}
