package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.interposer.Evidence;
import io.mallometer.model.Observation;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** When nothing was seen. Epochs last 5 s. */
class VoidTimeTest {

  private static final long SECOND = 1_000_000_000L;
  private static final long START = 77 * SECOND;

  private final VoidTime voidTime = new VoidTime();

  @Test
  void voidEpochsCountWhenTheNextEndsThatSaysSomething() {
    read(100, 100, 0);
    read(115, 100, 3);
    assertThat(voidTime.since(START)).isZero();

    read(130, 125, 5);
    // The fifth ended after 125 s.
    assertThat(voidTime.since(START)).isEqualTo(20);
    assertThat(voidTime.since(at(125))).isZero();

    read(135, 135, 5);
    assertThat(voidTime.since(at(125))).isEqualTo(5);
  }

  @Test
  void neverWasMoreVoidThanTheTimeThatPassed() {
    read(100, 100, 1_000);
    assertThat(voidTime.since(START)).isEqualTo(100);
    assertThat(voidTime.since(at(90))).isEqualTo(10);
  }

  @Test
  void theOldestSpansBecomeOne() {
    for (int i = 1; i <= 1_000; i++) {
      read(10 * i, 10 * i, i);
    }
    assertThat(voidTime.since(START)).isEqualTo(5_000);
    assertThat(voidTime.since(at(9_000))).isEqualTo(500);
    // Each for itself, those from 100 s on would be 4,950.
    assertThat(voidTime.since(at(100))).isEqualTo(5_000);
  }

  private void read(long now, long latestEnd, long voidEpochs) {
    voidTime.add(
        new Evidence(
            at(now),
            new Observation(
                Observation.State.ON,
                "",
                "cold",
                START,
                at(latestEnd),
                5,
                now / 5,
                voidEpochs,
                0,
                0,
                0,
                0,
                List.of(),
                0,
                0,
                0,
                "",
                ""),
            List.of(),
            Map.of()));
  }

  private static long at(long seconds) {
    return START + seconds * SECOND;
  }
}
