package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.NativeCounters;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class NativeScopeTest {

  @AutoClose
  private final FakeMallometer mallometer =
      new FakeMallometer(count(10), FaceContract.selfReport());

  @Test
  void aScopeCountsFromItsOpeningToItsClosing() {
    NativeScope scope = mallometer.counting().processScope();
    mallometer.setCounters(count(13));
    assertThat(calls(scope)).isEqualTo(3);

    mallometer.setCounters(count(15));
    scope.close();
    mallometer.setCounters(count(99));
    scope.close();
    assertThat(calls(scope)).isEqualTo(5);
  }

  @Test
  void countersFedByHandGiveCountsAndSayWhatIsUnknown() {
    try (NativeScope scope = mallometer.counting().threadScope()) {
      ScopeCounts counts = scope.figures().counts().orElseThrow();

      assertThat(counts.peakBytes()).isNaN();
      assertThat(counts.largestBytes()).isNaN();
      assertThat(scope.figures().reason()).contains("not measured");
    }
  }

  @Test
  void aScopeIsEmptyWithAReasonWhenCountingWasOffAtEitherEnd() {
    NativeScope scope = mallometer.counting().processScope();
    mallometer.setStatus(new Status(State.DISABLED, "switched off", ""));

    assertThat(scope.figures().counts()).isEmpty();
    assertThat(scope.figures().reason()).isNotEmpty();
  }

  @Test
  void anExecutorSumsUpTheTasksThatItPassedOn() {
    ScopedExecutor measured = mallometer.counting().across(Runnable::run);
    measured.execute(() -> mallometer.setCounters(count(12)));
    CompletableFuture.runAsync(() -> mallometer.setCounters(count(15)), measured).join();

    assertThat(measured.figures().counts().orElseThrow().calls()).isEqualTo(5);
  }

  @Test
  void anExecutorMeasuresATaskThatThrows() {
    ScopedExecutor measured = mallometer.counting().across(Runnable::run);
    try {
      measured.execute(
          () -> {
            mallometer.setCounters(count(12));
            throw new IllegalStateException("of the task");
          });
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("of the task");
    }

    assertThat(measured.figures().counts().orElseThrow().calls()).isEqualTo(2);
  }

  private static long calls(NativeScope scope) {
    return scope.figures().counts().orElseThrow().calls();
  }

  private static NativeCounters count(long allocations) {
    return new NativeCounters(
        SizeDistribution.of(sizeClass -> sizeClass == 3 ? allocations : 0),
        2,
        3,
        4,
        5,
        6,
        70,
        8,
        90,
        7,
        1,
        true);
  }

  @Test
  void unhookEndsTheScopeOfTheProcessThatHookOpened() {
    NativeScope scope = mallometer.counting().hook();
    ScopeFigures figures = scope.unhook();

    assertThat(figures.counts()).isPresent();
    assertThat(scope.unhook()).isEqualTo(figures);
    assertThat(scope.figures()).isEqualTo(figures);
  }
}
