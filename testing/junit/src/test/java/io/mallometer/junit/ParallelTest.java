package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.leaks.SideBySide;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

@Tag("counted")
@Tag("any-jdk")
class ParallelTest {

  private static final Map<String, String> PARALLEL =
      Map.of(
          "junit.jupiter.execution.parallel.enabled", "true",
          "junit.jupiter.execution.parallel.mode.default", "concurrent",
          "junit.jupiter.execution.parallel.config.strategy", "fixed",
          "junit.jupiter.execution.parallel.config.fixed.parallelism", "4");

  @Test
  void leakIsOfTheTestThatLeaksAndOfNoneBesideIt() {
    Map<String, TestExecutionResult> ended = Engine.run(SideBySide.class, PARALLEL);
    assertThat(ended.get("doesNotGrow").getThrowable()).isEmpty();
    assertThat(ended.get("callsOnce").getThrowable()).isEmpty();
    assertThat(ended.get("leaks").getStatus()).isEqualTo(Status.FAILED);
    assertThat(ended.get("leaks").getThrowable().orElseThrow())
        .hasMessageStartingWith("Native memory grows by 1.0 KiB a run")
        .hasMessageContaining("call sites whose stacks lead through Leaking");
  }
}
