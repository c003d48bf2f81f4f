package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ProcessorShareTest {

  private long nanos;

  @Test
  void theQuotaIsAShareOfAPeriod() {
    assertThat(ProcessorShare.quota("50000 100000\n")).isEqualTo(0.5);
    assertThat(ProcessorShare.quota("max 100000\n")).isInfinite();
    assertThat(ProcessorShare.quota("-1 100000")).isInfinite();
    assertThat(ProcessorShare.quota(" ")).isInfinite();
    assertThat(ProcessorShare.quota("a lot")).isInfinite();
  }

  @Test
  void aThreadWithoutCompetitorsIsNotSlowedDown() {
    assertThat(ProcessorShare.slowdown(1, 1, 2)).isEqualTo(1);
    assertThat(ProcessorShare.slowdown(0.9, 0.9, 64)).isCloseTo(1 / 0.9, within(0.001));
  }

  /** Eight threads of this process share two processors. */
  @Test
  void threadsOfTheSameProcessDoNotSlowItDown() {
    assertThat(ProcessorShare.slowdown(0.25, 2, 2)).isEqualTo(1);
  }

  /** Four threads of this process and four of another share two processors. */
  @Test
  void threadsOfOtherProcessesDo() {
    assertThat(ProcessorShare.slowdown(0.25, 1, 2)).isEqualTo(2.5);
    assertThat(ProcessorShare.slowdown(0.25, 0.25, 2)).isEqualTo(4);
  }

  @Test
  void aThreadThatGetsAThirdOfTheTimeIsThreeTimesAsSlow() {
    ProcessorShare share =
        new ProcessorShare(() -> nanos += 300_000, () -> nanos / 3, () -> nanos / 3);
    assertThat(share.measured(2)).isCloseTo(3, within(0.1));
    assertThat(nanos).isLessThan(5 * ProcessorShare.PROBE_NANOS);
  }

  /** The CPU times are unavailable in the first measurement, and do not advance in the second. */
  @Test
  void aMeasurementEndsInAnyCase() {
    assertThat(new ProcessorShare(() -> nanos += 300_000, () -> -1, () -> -1).measured(2))
        .isEqualTo(1);
    assertThat(new ProcessorShare(() -> nanos += 300_000, () -> 7, () -> 7).measured(2))
        .isEqualTo(1);
  }

  @Test
  void theProcessorsOfTheMachineAreAList() {
    assertThat(ProcessorShare.processors("0-1\n")).isEqualTo(2);
    assertThat(ProcessorShare.processors("0-3,8,10-11")).isEqualTo(7);
    assertThat(ProcessorShare.processors("0")).isEqualTo(1);
    assertThat(ProcessorShare.processors("")).isZero();
    assertThat(ProcessorShare.processors("all of them")).isZero();
    assertThat(ProcessorShare.processors("0-3,-")).isZero();
  }
}
