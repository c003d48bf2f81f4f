package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.leaks.OnVirtualThreads;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

/**
 * Checks that counters of a virtual thread are refused. The counters of its carrier thread must not
 * take their place.
 */
@Tag("counted")
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadTest {

  private static Map<String, TestExecutionResult> ended = Map.of();

  @BeforeAll
  static void run() {
    ended = Engine.run(OnVirtualThreads.class);
  }

  private static String failure(String method) {
    assertThat(ended.get(method).getStatus()).isEqualTo(Status.FAILED);
    return ended.get(method).getThrowable().orElseThrow().getMessage();
  }

  @Test
  void figuresOfTheThreadAreNotKnownForAReason() {
    assertThat(failure("counts")).contains("a virtual thread has no counters of its own");
    assertThat(failure("measures")).contains("a virtual thread has no counters of its own");
    assertThat(failure("isMonitored")).contains("a virtual thread has no counters of its own");
  }

  @Test
  void figuresOfTheProcessAreKnown() {
    assertThat(failure("countsTheProcess")).contains("allowed are 488 KiB");
    assertThat(failure("isMonitoredWithTheProcess")).contains("requested 30.0 MiB");
  }

  @Test
  void whatIsKeptIsFoundByItsStack() {
    assertThat(failure("leavesSomething"))
        .startsWith("Native memory: 1.0 KiB in 1 objects are not freed")
        .contains("io.mallometer.leaks.OnVirtualThreads.leavesSomething");
    assertThat(failure("leaks")).startsWith("Native memory grows by 1.0 KiB a run");
    assertThat(ended.get("isClean").getThrowable()).isEmpty();
  }
}
