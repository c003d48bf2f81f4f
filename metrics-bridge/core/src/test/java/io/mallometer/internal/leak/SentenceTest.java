package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.StackFrame;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the numbers and names in the sentences of verdicts. */
@Tag("any-jdk")
class SentenceTest {

  /** Frames of the Foreign Function API are left out of the name of a site. */
  @Test
  void framesOfAForeignCallTakeNoPartInNames() {
    assertThat(
            Sentence.siteText(
                "com.shop.Buffers.allocate",
                List.of(
                    StackFrame.ofJava("java.lang.invoke.LambdaForm$MH", "invoke", "", 0),
                    StackFrame.ofJava("jdk.internal.foreign.abi.DowncallStub", "invoke", "", 0),
                    StackFrame.ofJava("com.shop.Buffers", "allocate", "Buffers.java", 7))))
        .isEqualTo("Buffers.allocate");
  }

  @Test
  void bytesHaveTwoDigitsOrMore() {
    assertThat(Sentence.bytes(0)).isEqualTo("0 B");
    assertThat(Sentence.bytes(999)).isEqualTo("999 B");
    assertThat(Sentence.bytes(1_000)).isEqualTo("1.0 KiB");
    assertThat(Sentence.bytes(1.35 * (1 << 20))).isEqualTo("1.4 MiB");
    assertThat(Sentence.bytes(9.96 * (1 << 20))).isEqualTo("10 MiB");
    assertThat(Sentence.bytes(140.5 * (1 << 20))).isEqualTo("141 MiB");
    assertThat(Sentence.bytes(5e15)).isEqualTo("4547 TiB");
    assertThat(Sentence.bytes(Double.NaN)).isEqualTo("-");
  }

  @Test
  void ratesAreByTheMinuteFromAMebibyteOn() {
    assertThat(Sentence.rate(61 * 1_048_576 / 60.0)).isEqualTo("61 MiB/min");
    assertThat(Sentence.rate(0.5 * 1_048_576 / 60.0)).isEqualTo("30 MiB/h");
    assertThat(Sentence.rate(-61 * 1_048_576 / 60.0)).endsWith("/h");
  }

  @Test
  void objectsAreRoundedToTwoDigits() {
    assertThat(Sentence.count(7)).isEqualTo("7");
    assertThat(Sentence.count(41_449)).isEqualTo("41,000");
    assertThat(Sentence.count(1_234_567)).isEqualTo("1,200,000");
    assertThat(Sentence.count(Double.NaN)).isEqualTo("NaN");
  }

  @Test
  void timesAreInTheUnitThatTellsEnough() {
    assertThat(Sentence.time(90.4)).isEqualTo("90 s");
    assertThat(Sentence.time(720)).isEqualTo("12 min");
    assertThat(Sentence.time(7 * 3_600)).isEqualTo("7 h");
    assertThat(Sentence.time(3.6 * 86_400)).isEqualTo("4 days");
  }
}
