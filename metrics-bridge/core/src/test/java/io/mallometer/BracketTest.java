package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.NativeCounters;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The brackets that scopes have replaced: they work as they did. */
@SuppressWarnings("deprecation")
class BracketTest {

  @AutoClose
  private final FakeMallometer mallometer =
      new FakeMallometer(count(10), FaceContract.selfReport());

  @Test
  void aBracketCountsFromItsOpeningToItsClosing() {
    Bracket bracket = mallometer.counting().hook();
    mallometer.setCounters(count(13));
    assertThat(allocations(bracket.statistics())).isEqualTo(3);

    mallometer.setCounters(count(15));
    assertThat(allocations(bracket.unhook())).isEqualTo(5);

    mallometer.setCounters(count(99));
    assertThat(allocations(bracket.statistics())).isEqualTo(5);
    assertThat(allocations(bracket.unhook())).isEqualTo(5);
  }

  @Test
  void bracketsOverlapWithoutDisturbingEachOther() {
    try (Bracket outer = mallometer.counting().hook()) {
      mallometer.setCounters(count(11));
      try (Bracket inner = mallometer.counting().hook()) {
        mallometer.setCounters(count(14));
        assertThat(allocations(inner.statistics())).isEqualTo(3);
      }
      assertThat(allocations(outer.statistics())).isEqualTo(4);
    }
    assertThat(mallometer.snapshot().process().orElseThrow().allocations()).isEqualTo(10);
  }

  @Test
  void everyFigureIsADifferenceExceptThoseOfTheWholeLife() {
    NativeCounters end = FaceContract.counters(true, 40_000);
    NativeCounters difference = end.minus(count(1));

    assertThat(difference.frees()).isEqualTo(end.frees() - 2);
    assertThat(difference.failed()).isEqualTo(end.failed() - 3);
    assertThat(difference.requestedBytes()).isEqualTo(end.requestedBytes() - 4);
    assertThat(difference.allocatedBytes()).isEqualTo(end.allocatedBytes() - 5);
    assertThat(difference.freedBytes()).isEqualTo(end.freedBytes() - 6);
    assertThat(difference.hugeAllocations()).isEqualTo(end.hugeAllocations() - 7);
    assertThat(difference.liveBytes()).isEqualTo(end.liveBytes() + 1);
    assertThat(difference.peakBytes()).isEqualTo(end.peakBytes());
    assertThat(difference.largestRequestBytes()).isEqualTo(40_000);
  }

  @Test
  void aThreadsBracketAnswersItsOwnerOnly() {
    Bracket bracket = mallometer.counting().hookThread();
    mallometer.setCounters(count(12));

    assertThat(CompletableFuture.supplyAsync(bracket::statistics).join()).isEmpty();
    assertThat(allocations(bracket.unhook())).isEqualTo(2);
    assertThat(CompletableFuture.supplyAsync(bracket::statistics).join()).isPresent();
  }

  @Test
  void aBracketIsEmptyWhenCountingWasOffAtEitherEnd() {
    Bracket bracket = mallometer.counting().hook();
    mallometer.setStatus(new Status(State.DISABLED, "switched off", ""));

    assertThat(bracket.statistics()).isEmpty();
    assertThat(mallometer.counting().hook().unhook()).isEmpty();
  }

  private static long allocations(Optional<NativeCounters> counters) {
    return counters.orElseThrow().allocations();
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
}
