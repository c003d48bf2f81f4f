package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.leaks.Measures;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

@Tag("counted")
class MeasuredTest {

  private static final Map<String, TestExecutionResult> ENDED = Engine.run(Measures.class);

  private static String failure(String method) {
    assertThat(ENDED.get(method).getStatus()).isEqualTo(Status.FAILED);
    return ENDED.get(method).getThrowable().orElseThrow().getMessage();
  }

  @Test
  void figuresOfAPieceOfCode() {
    assertThat(ENDED.get("measuresThisThread").getThrowable()).isEmpty();
  }

  @Test
  void peakAboveTheLimitFails() {
    assertThat(failure("hasAHighPeak"))
        .startsWith("Native memory: 97.7 KiB at the peak, allowed are 48.8 KiB.")
        .contains("Stacks that allocated most:")
        .contains("io.mallometer.leaks.Measures.hasAHighPeak(Measures.java:");
  }

  @Test
  void whatIsLeftFailsWithItsStack() {
    assertThat(failure("leavesSomething"))
        .startsWith("Native memory: 1.0 KiB in 1 objects are not freed, allowed are 0 B.")
        .contains("Stacks that kept most:")
        .contains("io.mallometer.leaks.Measures.leavesSomething(Measures.java:");
  }
}
