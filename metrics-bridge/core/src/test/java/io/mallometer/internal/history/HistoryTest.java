package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.HistoryPoint;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class HistoryTest {

  private static final long SECOND = 1_000_000_000L;

  private final History history = new History();

  @Test
  void resolutionFallsWithAge() {
    poll(0, 7_200, 1);
    List<Long> ages = ages(7_199);

    assertThat(ages).isSortedAccordingTo((a, b) -> Long.compare(b, a)).doesNotHaveDuplicates();
    assertThat(ages.get(0)).isBetween(3_500L, 3_600L);
    assertThat(ages.stream().filter(age -> age < 300)).hasSize(300);
    assertThat(ages.stream().filter(age -> age > 300 && age < 900)).hasSizeBetween(55, 80);
    assertThat(ages.stream().filter(age -> age > 900)).hasSizeBetween(40, 62);
    assertThat(ages).hasSizeLessThanOrEqualTo(450);
  }

  @Test
  void everyPollOfTheUsualIntervalIsThere() {
    poll(0, 300, 5);

    assertThat(history.points()).hasSize(60);
  }

  @Test
  void pollsWithoutPauseDoNotPileUp() {
    for (int i = 0; i < 100_000; i++) {
      history.add(snapshot(i / 1000), i * SECOND / 1000);
    }
    assertThat(history.points()).hasSizeLessThan(150);
  }

  @Test
  void aWallClockThatJumpsLosesNothing() {
    for (int second = 0; second < 200; second++) {
      history.add(snapshot(second < 100 ? second : second - 86_400), second * SECOND);
    }
    assertThat(history.points()).hasSize(200);
    assertThat(history.points().get(199).time()).isEqualTo(Instant.ofEpochSecond(199 - 86_400));
  }

  @Test
  void noPaceOfPollingMakesMoreOfThem() {
    for (long step : List.of(750, 760, 800, 900, 1_000)) {
      History paced = new History();
      for (long millis = 0; millis < 7_200_000; millis += step) {
        paced.add(snapshot(millis / 1_000), millis * (SECOND / 1_000));
      }
      assertThat(paced.points().size()).isBetween(400, 550);
    }
  }

  @Test
  void afterALongPauseOldPointsAreGone() {
    poll(0, 300, 5);
    history.add(snapshot(10_000), 10_000 * SECOND);

    assertThat(history.points()).hasSize(1);
  }

  @Test
  void unknownIsNotZero() {
    HistoryPoint point = HistoryPoint.of(snapshot(0));

    assertThat(List.of(point.liveBytes(), point.residentBytes(), point.limitBytes()))
        .containsOnly(Double.NaN);
  }

  private void poll(int from, int to, int step) {
    for (int second = from; second < to; second += step) {
      history.add(snapshot(second), second * SECOND);
    }
  }

  private List<Long> ages(long now) {
    return history.points().stream().map(point -> now - point.time().getEpochSecond()).toList();
  }

  private static Snapshot snapshot(long second) {
    Status status = new Status(State.UNAVAILABLE, "", "");
    return Snapshot.absent(Instant.ofEpochSecond(second), status);
  }
}
