package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class NativeMemoryTrackingTest {

  /**
   * The report has 9,706,298 bytes of malloc. Of these, Java code requested 10,240 bytes (category
   * Other).
   */
  @Test
  void readsJdk17() {
    NativeMemoryTracking tracking =
        NativeMemoryTracking.parse(Captured.text("nmt-jdk17-g1.txt")).orElseThrow();

    assertThat(tracking.mallocBytes()).isEqualTo(9_706_298 - 10_240);
    assertThat(tracking.structureBytes()).isEqualTo(43_552_768 + 36_864 + 8_192);
  }

  @Test
  void readsJdk25() {
    NativeMemoryTracking tracking =
        NativeMemoryTracking.parse(Captured.text("nmt-jdk25-g1.txt")).orElseThrow();

    assertThat(tracking.mallocBytes()).isEqualTo(14_652_488 - 34_816);
    assertThat(tracking.structureBytes()).isEqualTo(38_834_176 + 36_864 + 8_192);
  }

  @Test
  void isUnknownWhenItIsOff() {
    assertThat(NativeMemoryTracking.parse("Native memory tracking is not enabled\n")).isEmpty();
    assertThat(NativeMemoryTracking.parse("")).isEmpty();
  }
}
