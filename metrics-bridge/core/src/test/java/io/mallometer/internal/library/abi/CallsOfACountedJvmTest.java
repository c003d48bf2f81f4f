package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.preload.Counted;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("preload")
@ExtendWith(Counted.class)
class CallsOfACountedJvmTest {

  @Test
  void noCallTakesTheWayThroughJna() {
    boolean attached = Boolean.getBoolean("mallometer.tests.attach");
    try (Mallometer mallometer = Mallometer.open()) {
      assertThat(mallometer.status().active()).isTrue();
      assertThat(DirectCalls.callsByAddress()).isEqualTo(attached);
      assertThat(DirectCalls.linked()).isEqualTo(!attached);
    }
  }
}
