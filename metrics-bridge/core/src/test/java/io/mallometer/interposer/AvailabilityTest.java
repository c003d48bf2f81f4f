package io.mallometer.interposer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class AvailabilityTest {

  private static final String MAPS =
      "7f00-7f01 r-xp 00000000 fe:00 42 /usr/lib/x86_64-linux-gnu/libc.so.6\n";

  @Test
  void whatIsMappedDecidesNotWhatTheVariableNames() {
    assertThat(
            Availability.seemsLoaded(
                Optional.of(MAPS + "7f02-7f03 r-xp 0 fe:00 43 /opt/libmallometer.so (deleted)\n"),
                ""))
        .isTrue();
    assertThat(Availability.seemsLoaded(Optional.of(MAPS), "/opt/libmallometer.so")).isFalse();
  }

  @Test
  void aDirectoryOfThatNameIsNotTheLibrary() {
    assertThat(
            Availability.seemsLoaded(
                Optional.of("7f02-7f03 r-xp 0 fe:00 43 /opt/libmallometer.d/libz.so\n"), ""))
        .isFalse();
  }

  @Test
  void theVariableStandsInWhereProcIsHidden() {
    assertThat(Availability.seemsLoaded(Optional.empty(), "/opt/libmallometer.so")).isTrue();
    assertThat(Availability.seemsLoaded(Optional.empty(), "/opt/libjemalloc.so.2")).isFalse();
  }
}
