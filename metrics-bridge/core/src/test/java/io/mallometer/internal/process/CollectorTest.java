package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class CollectorTest {

  @ParameterizedTest
  @CsvSource({"Shenandoah Cycles, SHENANDOAH", "ZGC Minor Pauses, Z", "PS MarkSweep, PARALLEL"})
  void someHaveSeveralBeans(String bean, Collector collector) {
    assertThat(Collector.named(bean)).isEqualTo(collector);
  }

  @ParameterizedTest
  @CsvSource({
    "G1, jcmd 7 VM.set_flag G1PeriodicGCInterval 60000",
    "Z, -XX:ZCollectionInterval=60",
    "PARALLEL, ''",
    "SERIAL, ''"
  })
  void someCollectPeriodically(Collector collector, String option) {
    assertThat(collector.collectsPeriodically(7).orElse("")).isEqualTo(option);
  }
}
