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
  void aSecondTakesLongerByQuotaOrLoadWhicheverIsWorse() {
    assertThat(ProcessorShare.slowdown(0.5, 0.1, 1)).isEqualTo(2);
    assertThat(ProcessorShare.slowdown(Double.POSITIVE_INFINITY, 8, 2)).isEqualTo(4);
    assertThat(ProcessorShare.slowdown(Double.POSITIVE_INFINITY, -1, 2)).isEqualTo(1);
  }
}
