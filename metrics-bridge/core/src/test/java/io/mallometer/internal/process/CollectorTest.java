package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CollectorTest {

  /** Epsilon stands for a collector that mallometer does not know. */
  @ParameterizedTest
  @Tag("process")
  @CsvSource({"G1, G1", "Parallel, PARALLEL", "Serial, SERIAL", "Z, Z", "Epsilon, OTHER"})
  void aJvmsCollectorIsKnownByItsBeans(String option, Collector collector) {
    String output =
        new ChildJvm()
            .options("-XX:+UnlockExperimentalVMOptions", "-XX:+Use" + option + "GC")
            .run(Prints.class)
            .output();

    assertThat(output).contains("collector=" + collector + "\n");
  }

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

  static final class Prints {

    private Prints() {}

    public static void main(String[] arguments) {
      System.out.println("collector=" + Collector.ofThisJvm());
    }
  }
}
