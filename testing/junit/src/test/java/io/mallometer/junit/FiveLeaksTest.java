package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.leaks.Clean;
import io.mallometer.leaks.Leaks;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

@Tag("counted")
@Tag("any-jdk")
class FiveLeaksTest {

  @Test
  void leaksOfFiveNaturesFail() {
    Map<String, TestExecutionResult> ended = Engine.run(Leaks.class);
    assertThat(ended).hasSize(5);
    assertThat(ended.values()).allMatch(result -> result.getStatus() == Status.FAILED);
    assertThat(ended.values())
        .extracting(result -> result.getThrowable().orElseThrow().getMessage())
        .allMatch(text -> text.startsWith("Native memory grows by"));
  }

  @Test
  void theSameWithoutLeaksPasses() {
    Map<String, TestExecutionResult> ended = Engine.run(Clean.class);
    assertThat(ended).hasSize(5);
    assertThat(ended.values()).allMatch(result -> result.getStatus() == Status.SUCCESSFUL);
  }
}
