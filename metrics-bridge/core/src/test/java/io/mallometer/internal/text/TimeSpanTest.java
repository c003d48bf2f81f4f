package io.mallometer.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class TimeSpanTest {

  @ParameterizedTest
  @CsvSource({"500ms, PT0.5S", "30s, PT30S", "+2m, PT2M", "1H, PT1H", "2d, PT48H", "PT10M, PT10M"})
  void aNumberWithItsUnit(String text, Duration span) {
    assertThat(TimeSpan.parse(text)).contains(span);
  }

  @ParameterizedTest
  @ValueSource(strings = {"500", "5 s", "-5s", "5x", "", "s", "99999999999999999999s"})
  void anythingElseIsNone(String text) {
    assertThat(TimeSpan.parse(text)).isEmpty();
  }

  @Test
  void zeroNeedsNoUnit() {
    assertThat(TimeSpan.parse("0")).contains(Duration.ZERO);
  }
}
