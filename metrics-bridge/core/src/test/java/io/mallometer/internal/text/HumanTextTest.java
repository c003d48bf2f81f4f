package io.mallometer.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class HumanTextTest {

  @Test
  void eachWholePercentIsShownAsItIs() {
    IntStream.rangeClosed(0, 200)
        .forEach(
            count -> {
              String percent = count / 2 + " %";
              assertThat(HumanText.share(count / 200.0)).isEqualTo(percent);
            });
  }

  @Test
  void anIntervalOfSharesIsRoundedOutward() {
    assertThat(HumanText.shares(0.29, 0.57)).isEqualTo("29 to 57 %");
    assertThat(HumanText.shares(0.2951, 0.5701)).isEqualTo("29 to 58 %");
  }

  @Test
  void anUnknownShareIsADash() {
    assertThat(HumanText.share(Double.NaN)).isEqualTo("-");
  }
}
