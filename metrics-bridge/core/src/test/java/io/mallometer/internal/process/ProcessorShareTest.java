package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessorShareTest {

  @Test
  void theQuotaIsAShareOfAPeriod() {
    assertThat(ProcessorShare.quota("50000 100000\n")).isEqualTo(0.5);
    assertThat(ProcessorShare.quota("max 100000\n")).isInfinite();
    assertThat(ProcessorShare.quota("-1 100000")).isInfinite();
    assertThat(ProcessorShare.quota(" ")).isInfinite();
    assertThat(ProcessorShare.quota("a lot")).isInfinite();
  }

  @Test
  void theLoadOfTheMachineCountsOnlyWhereItTakesMoreThanTheQuota() {
    assertThat(ProcessorShare.slowdown(0.5, 3, 2)).isEqualTo(2);
    assertThat(ProcessorShare.slowdown(0.5, 10, 2)).isEqualTo(5);
    assertThat(ProcessorShare.slowdown(0.5, 10, 64)).isEqualTo(2);
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

  @Test
  void aSecondTakesLongerByQuotaOrLoadWhicheverIsWorse() {
    assertThat(ProcessorShare.slowdown(0.5, 0.1, 1)).isEqualTo(2);
    assertThat(ProcessorShare.slowdown(Double.POSITIVE_INFINITY, 8, 2)).isEqualTo(4);
    assertThat(ProcessorShare.slowdown(Double.POSITIVE_INFINITY, -1, 2)).isEqualTo(1);
  }
}
