package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Phase;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.SizeDistribution;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PhaseChangeTest {

  private final Locale before = Locale.getDefault();

  @AfterEach
  void backToTheLocale() {
    Locale.setDefault(before);
  }

  @Test
  void returnedSizesReadTheSameInEveryLocale() {
    Locale.setDefault(Locale.GERMANY);
    Phase load =
        new Phase(
            "load",
            Instant.EPOCH,
            Instant.ofEpochMilli(1_500),
            ScopeFigures.none("nothing counts"),
            Optional.of(SizeDistribution.of(sizeClass -> sizeClass == 1 ? 12_345 : 0)));
    assertThat(PhaseChange.of(Optional.of(load), "work").sentence())
        .isEqualTo(
            """
            phase load, 1.5 s: nothing was counted: nothing counts
            allocations by returned size:
              up to 32 B: 12,345
            phase work begins""");
  }
}
