package io.mallometer.meter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class TagValueTest {

  @Test
  void addressesAreTakenOut() {
    assertThat(TagValue.of("libx.so!f+0x1f")).isEqualTo("libx.so!f");
    assertThat(TagValue.of("a.B$$Lambda/0x00007f00deadBEEF.run")).isEqualTo("a.B$$Lambda.run");
    assertThat(TagValue.of("0x7f0012345678")).isEqualTo("unknown");
  }

  @Test
  void controlAndFormatCharactersAreReplaced() {
    assertThat(TagValue.of("a\nb\u202ec\u0000d\u2028e f")).isEqualTo("a?b?c?d?e f");
  }

  @Test
  void nothingIsLongerThan200Characters() {
    assertThat(TagValue.of("x".repeat(200))).hasSize(200);
    assertThat(TagValue.of("x".repeat(201))).hasSize(200).endsWith("xx...");
    assertThat(TagValue.of("x".repeat(196) + "\ud83d\ude00" + "y".repeat(90)))
        .isEqualTo("x".repeat(196) + "...");
  }

  @Test
  void nothingIsEmpty() {
    assertThat(TagValue.of(" ")).isEqualTo("unknown");
  }
}
