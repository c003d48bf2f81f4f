package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.ScopeCounts;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

@Tag("any-jdk")
@Tag("engine")
class ExtensionTest {

  private static final HandFedProcess PROCESS = new HandFedProcess();
  private static Map<String, TestExecutionResult> ended = Map.of();
  private static int runs;

  @BeforeAll
  static void runAll() {
    ended = Engine.run(Cases.class);
  }

  @BeforeEach
  void startAgain() {
    PROCESS.status = io.mallometer.model.Status.counting();
    PROCESS.live = 0;
    PROCESS.calls = 0;
    PROCESS.peak = 0;
    runs = 0;
  }

  private static TestExecutionResult run(String method, Map<String, String> parameters) {
    return Engine.run(Cases.class, parameters).get(method);
  }

  private static TestExecutionResult ended(String method) {
    return ended.get(method);
  }

  private static String failure(TestExecutionResult result) {
    assertThat(result.getStatus()).isEqualTo(Status.FAILED);
    return result.getThrowable().orElseThrow().getMessage();
  }

  static class Base {
    @RegisterExtension static final HandFedProcess HAND_FED = PROCESS;
  }

  static class Cases extends Base {
    @BeforeEach
    void begin() {
      PROCESS.live = 0;
      PROCESS.isGarbage = false;
      PROCESS.calls = 0;
      runs = 0;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 5)
    void grows() {
      PROCESS.live += 1_000;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 5, perIteration = 1_000)
    void growsAsAllowed() {
      PROCESS.live += 1_000;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 5)
    void growsInOneSeriesOnly() {
      PROCESS.live += runs++ < 8 ? 1_000 : 0;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void isFreedByCollectionsAlone() {
      PROCESS.isGarbage = true;
      PROCESS.live = ++runs % 7 == 0 ? 1_000 : PROCESS.live + 1_000;
    }

    /** The warm-up and the two series take 24 runs, so a collection ends the second series. */
    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void isFreedByACollectionAtTheEnd() {
      PROCESS.isGarbage = true;
      PROCESS.live = ++runs % 8 == 0 ? 0 : PROCESS.live + 1_000;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10, collectGarbage = true)
    void isFreedByCollectionsAsAllowed() {
      PROCESS.isGarbage = true;
      PROCESS.live += 1_000;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void isEmptiedByItself() {
      PROCESS.live = ++runs % 7 == 0 ? 0 : PROCESS.live + 1_000;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void allocatesWithoutRoom() {
      PROCESS.withoutSite += ++runs % 3 == 0 ? 1 : 0;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 8, iterations = 10)
    void allocatesWithoutRoomBefore() {
      PROCESS.withoutSite += ++runs <= 8 ? 100 : 0;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void isEmptiedByItselfWithoutRoom() {
      PROCESS.live = ++runs % 7 == 0 ? 0 : PROCESS.live + 1_000;
      PROCESS.withoutSite++;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void hasTooManyObjects() {
      PROCESS.notFollowed++;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 2, iterations = 10)
    void growsByTooManyObjects() {
      PROCESS.notFollowed++;
      PROCESS.processLive += 1_000;
    }

    @Test
    @ExpectNativeFreed
    void mayKeepWithoutRoom() {
      PROCESS.withoutSite++;
    }

    @Test
    @ExpectNoNativeGrowth(iterations = 4)
    void hasTooFewIterations() {}

    @Test
    @ExpectNativeFreed(warmups = 1)
    void keepsOnce() {
      PROCESS.live += runs++ == 0 ? 5_000 : 0;
    }

    @Test
    @ExpectNativeFreed(warmups = 0)
    void keepsInTheFirstRun() {
      PROCESS.live += 5_000;
    }

    @Test
    @ExpectMaxNative(calls = 3, warmups = 1, iterations = 5)
    void callsOften() {
      PROCESS.calls += 1 + runs++;
    }

    @Test
    @ExpectMaxNative(calls = 3, warmups = 1, iterations = 3)
    void callsAsAllowed() {
      PROCESS.calls += 1 + runs++;
    }

    @Test
    @ExpectMaxNative(peak = 3)
    void hasAPeakThatNobodyKnows() {
      PROCESS.peak = Double.NaN;
    }

    @Test
    @ExpectMaxNative(calls = 3)
    void throwsOfItself() {
      throw new IllegalStateException("of the test itself");
    }

    @Test
    @ExtendWith(NativeMemoryExtension.class)
    void asserts(NativeMemory memory) {
      ScopeCounts use = memory.measure(() -> PROCESS.calls += 2);
      assertThat(use.calls()).isEqualTo(2);
      memory.assertThat(() -> PROCESS.calls += 2).callsAtMost(2).bytesAtMost(200).keepsNothing();
      memory.assertThat(() -> PROCESS.live += 2).keepsAtMost(1);
    }

    @Test
    @MonitorNative(liveSize = 1)
    void isPresent() {}

    @TestFactory
    @ExpectNativeFreed
    DynamicTest dynamic() {
      return DynamicTest.dynamicTest("dynamic", () -> {});
    }
  }

  @ExpectNoNativeGrowth(warmups = 1, iterations = 5)
  static class OnTheClass extends Base {
    @Test
    void grows() {
      PROCESS.live += 1_000;
    }
  }

  @Isolated
  static class Alone extends Base {
    @Test
    @ExpectNativeFreed
    void passes() {}
  }

  static class Beside extends Base {
    @Test
    @ExpectNativeFreed
    void passes() {}
  }

  @Test
  void growthSaysFigureLimitSpreadAndHowItWasCounted() {
    assertThat(failure(ended("grows")))
        .isEqualTo(
            """
            Native memory grows by 1.0 KiB a run (95 % interval 1.0 KiB to 1.0 KiB), allowed are 0 B.
            After 4 runs to warm up, 10 runs left 9.8 KiB. Of the last 5: least 1.0 KiB, median 1.0 KiB, most 1.0 KiB.
            Counted (by hand): everything.
            A garbage collection freed 0 B of it.\
            """);
  }

  @Test
  void growthThatIsAllowedOrDoesNotLastPasses() {
    assertThat(ended("growsAsAllowed").getStatus()).isEqualTo(Status.SUCCESSFUL);
    assertThat(ended("growsInOneSeriesOnly").getStatus()).isEqualTo(Status.SUCCESSFUL);
  }

  @Test
  void whatACollectionFreesCountsAsKept() {
    assertThat(failure(ended("isFreedByCollectionsAlone")))
        .startsWith("Native memory grows by 1.0 KiB a run")
        .endsWith(" of it: the objects are unreachable, but were not closed.");
    assertThat(failure(ended("isFreedByACollectionAtTheEnd")))
        .startsWith("Native memory grows by 1.0 KiB a run");
    assertThat(ended("isFreedByCollectionsAsAllowed").getStatus()).isEqualTo(Status.SUCCESSFUL);
    assertThat(ended("isEmptiedByItself").getStatus()).isEqualTo(Status.SUCCESSFUL);
  }

  @Test
  void whatFoundNoRoomIsNotKnown() {
    assertThat(failure(ended("allocatesWithoutRoom")))
        .isEqualTo(
            """
            Whether native memory is kept is not known: 3 allocations of the runs found no room among the call sites of this JVM.
            Run the test class in a JVM of its own, as with Surefire's reuseForks=false.\
            """);
    assertThat(failure(ended("isEmptiedByItselfWithoutRoom")))
        .contains("not known: 10 allocations");
    assertThat(failure(ended("mayKeepWithoutRoom"))).contains("not known: 1 allocations");
    assertThat(ended("allocatesWithoutRoomBefore").getStatus()).isEqualTo(Status.SUCCESSFUL);
  }

  @Test
  void objectsThatAreNotFollowedMatterIfTheProcessGrows() {
    assertThat(ended("hasTooManyObjects").getStatus()).isEqualTo(Status.SUCCESSFUL);
    assertThat(failure(ended("growsByTooManyObjects")))
        .startsWith("Native memory grows, but where is not known: 10 allocations");
  }

  @Test
  void tooFewIterationsAreRefused() {
    assertThat(failure(ended("hasTooFewIterations"))).contains("at least 5 iterations");
  }

  @Test
  void annotationOnTheClassHoldsForItsMethods() {
    assertThat(failure(Engine.run(OnTheClass.class).get("grows")))
        .startsWith("Native memory grows");
  }

  @Test
  void firstRunsLoadWhatStays() {
    assertThat(ended("keepsOnce").getStatus()).isEqualTo(Status.SUCCESSFUL);
    assertThat(failure(ended("keepsInTheFirstRun")))
        .startsWith("Native memory: 4.9 KiB in 0 objects are not freed, allowed are 0 B.\n");
  }

  @Test
  void medianOfTheRunsThatCountIsHeldAgainstTheLimit() {
    assertThat(failure(ended("callsOften")))
        .isEqualTo(
            """
            Native memory: 4 calls of malloc, allowed are 3.
            Of 5 runs: least 2, median 4, most 6.
            Counted (by hand): everything.\
            """);
    assertThat(ended("callsAsAllowed").getStatus()).isEqualTo(Status.SUCCESSFUL);
  }

  @Test
  void figureThatIsUnknownIsNotGreen() {
    assertThat(failure(ended("hasAPeakThatNobodyKnows")))
        .startsWith("Native memory: - at the peak, allowed are 3 B.");
  }

  @Test
  void failureOfTheTestItselfStaysWhatItIs() {
    assertThat(failure(ended("throwsOfItself"))).isEqualTo("of the test itself");
  }

  @Test
  void assertionsInCode() {
    assertThat(failure(ended("asserts")))
        .startsWith("Native memory: 2 B in 0 objects are not freed");
  }

  @Test
  void dynamicTestsAreRefused() {
    assertThat(failure(ended("dynamic"))).contains("dynamic tests");
  }

  @Test
  void withoutCountsATestFailsOrIsSkippedAsConfigured() {
    PROCESS.isAbsent();
    assertThat(failure(run("grows", Map.of())))
        .isEqualTo(
            """
            Native memory is not counted: it is not there. What to do: put it there
            To skip such tests: configuration parameter mallometer.uncounted=skip\
            """);
    assertThat(failure(run("asserts", Map.of()))).contains("it is not there");
    TestExecutionResult skipped = run("grows", Map.of("mallometer.uncounted", "skip"));
    assertThat(skipped.getStatus()).isEqualTo(Status.ABORTED);
    assertThat(skipped.getThrowable().orElseThrow()).hasMessageContaining("it is not there");
    assertThat(failure(run("grows", Map.of("mallometer.uncounted", "ignore"))))
        .contains("can be fail or skip");
  }

  @Test
  void whatIsPresentIsNotAskedBesideOtherTests() {
    assertThat(
            failure(run("isPresent", Map.of("junit.jupiter.execution.parallel.enabled", "true"))))
        .contains("needs @Isolated");
  }

  @Test
  void besideOtherTestsOnlyTheStacksOfTheTestCount() {
    Map<String, String> parallel = Map.of("junit.jupiter.execution.parallel.enabled", "true");
    Engine.run(Beside.class, parallel);
    assertThat(PROCESS.watched).isEqualTo(Of.TEST);
    Engine.run(Alone.class, parallel);
    assertThat(PROCESS.watched).isEqualTo(Of.PROCESS);
    Engine.run(Beside.class);
    assertThat(PROCESS.watched).isEqualTo(Of.PROCESS);
  }

  @Test
  void phasesOfTheSameNameAreAllReported() {
    NativeMemory memory = new NativeMemory(new HandFedProcess(), ExtensionTest.class, true);
    memory.nextPhase("round");
    memory.nextPhase("round");
    memory.endPhase();
    assertThat(memory.phases())
        .extracting(Map.Entry::getKey)
        .containsOnly("phase round")
        .hasSize(2);
  }
}
