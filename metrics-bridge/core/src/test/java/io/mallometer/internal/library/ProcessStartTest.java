package io.mallometer.internal.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class ProcessStartTest {

  private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");

  @Test
  void itIsAsLongAgoAsTheTicksSinceThen() {
    String stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 9000 20";
    assertThat(ProcessStart.of(stat, "100.00 5.00\n", NOW)).contains(NOW.minusSeconds(10));
  }

  @Test
  void withoutProcItIsUnknown() {
    assertThat(ProcessStart.of("", "", NOW)).isEmpty();
    assertThat(ProcessStart.of("12 (a) S 1", "100.00", NOW)).isEmpty();
  }

  @Test
  void ofAnUptimeThatIsNotTheHostsItIsUnknown() {
    String stat = "12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 9000 20";
    assertThat(ProcessStart.of(stat, "50.00 5.00\n", NOW)).isEmpty();
  }

  @Test
  void theJdkSaysTheSame() {
    Instant jdk = ProcessHandle.current().info().startInstant().orElseThrow();
    assertThat(ProcessStart.instant().orElseThrow()).isCloseTo(jdk, within(2, ChronoUnit.SECONDS));
  }
}
