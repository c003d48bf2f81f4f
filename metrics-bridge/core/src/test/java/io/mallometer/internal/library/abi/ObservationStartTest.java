package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests when the bridge asks the library to observe accesses to objects. */
class ObservationStartTest {

  private static final long SECOND = 1_000_000_000L;

  private int answer;
  private int starts;
  private int stops;
  private long now = Long.MAX_VALUE - SECOND;

  private final ObservationStart start =
      new ObservationStart(
          () -> {
            starts++;
            return answer;
          },
          () -> {
            stops++;
            return 0;
          },
          () -> now);

  private void evaluateEvery15SecondsForMinutes(int minutes) {
    for (int i = 0; i < 4 * minutes; i++) {
      now += 15 * SECOND;
      start.askAgainIfDue();
    }
  }

  @Test
  void whereNoThreadCouldBeStartedItIsTriedAgainOnceAMinute() {
    answer = -11;
    start.ask();
    assertThat(start.refusal()).contains("no thread").contains("again");
    evaluateEvery15SecondsForMinutes(3);
    assertThat(starts).isEqualTo(4);
    assertThat(start.refusal()).contains("no thread");

    answer = 0;
    evaluateEvery15SecondsForMinutes(3);
    assertThat(starts).isEqualTo(5);
    assertThat(start.refusal()).isEmpty();
  }

  @Test
  void aLibraryThatRecordsNoCallSitesMayDoSoOnceItIsAttached() {
    answer = -61;
    start.ask();
    assertThat(start.refusal()).contains("MALLOMETER_LEAKS");

    answer = 0;
    evaluateEvery15SecondsForMinutes(1);
    assertThat(starts).isEqualTo(2);
    assertThat(start.refusal()).isEmpty();
  }

  @Test
  void whatTheLibraryRefusesForGoodIsAskedOnce() {
    answer = -38;
    start.ask();
    evaluateEvery15SecondsForMinutes(3);
    assertThat(starts).isEqualTo(1);
    assertThat(start.refusal()).contains("errno 38");
  }

  @Test
  void oneStartIsTakenBackOnce() {
    start.ask();
    start.ask();
    start.takeBack();
    start.takeBack();
    assertThat(starts).isEqualTo(1);
    assertThat(stops).isEqualTo(1);

    start.ask();
    assertThat(starts).isEqualTo(2);
    assertThat(start.refusal()).isEmpty();
  }

  @Test
  void aStartThatFailedIsNeitherTakenBackNorTriedAgainWhenNobodyAsks() {
    answer = -11;
    start.ask();
    start.takeBack();
    evaluateEvery15SecondsForMinutes(3);
    assertThat(starts).isEqualTo(1);
    assertThat(stops).isZero();
    assertThat(start.refusal()).contains("no reader");
  }
}
