package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.internal.interposer.Neighbours;
import io.mallometer.internal.interposer.Neighbours.Side;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Estimate;
import io.mallometer.model.PinnedMemory;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Of 1,000,000 bytes from the system 300,000 are used and 700,000 free, 100,000 at the end. */
class FreeMemoryTest {

  @Test
  void boundsFollowFromWhereWhatIsResidentMayLie() {
    FreeMemory all = FreeMemory.of(statistics(3, 500_000), 700_000, Double.NaN);
    assertThat(all.low()).isEqualTo(600_000);
    assertThat(all.high()).isEqualTo(600_000);

    FreeMemory half = FreeMemory.of(statistics(3, 0), 350_000, Double.NaN);
    assertThat(half.low()).isEqualTo(250_000);
    assertThat(half.value()).isEqualTo(350_000);
    assertThat(half.high()).isEqualTo(600_000);
    assertThat(half.bytes(1).high()).isLessThanOrEqualTo(600_000);

    FreeMemory unknown = FreeMemory.of(statistics(3, 400_000), Double.NaN, Double.NaN);
    assertThat(unknown.low()).isEqualTo(400_000);
    assertThat(unknown.high()).isEqualTo(600_000);
  }

  /** Of the whole pages beside samples half are resident: so are those of all chunks. */
  @Test
  void aTrimGivesBackWhatIsResidentOfAllWholePages() {
    Side side = new Side(48 + 4096 + 40_960, 0, 20_480);
    Neighbours sample = new Neighbours(1, true, false, 0.1, 0, side, new Side(100, 100, 0));
    FreeMemory free = FreeMemory.of(statistics(3, 100_000), 400_000, Double.NaN);

    Estimate returnable = free.returnable(List.of(sample));

    assertThat(returnable.value()).isCloseTo(0.5 * 560_000, within(1.0));
    assertThat(returnable.high()).isBetween(290_000.0, 400_000.0);
    assertThat(returnable.low()).isBetween(90_000.0, 280_000.0);
  }

  @Test
  void withoutSamplesATrimGivesBackTheLeastThatIsKnown() {
    FreeMemory free = FreeMemory.of(statistics(3, 100_000), 400_000, Double.NaN);
    assertThat(free.returnable(List.of()).value()).isEqualTo(100_000);
  }

  @Test
  void fewerArenasSaveWhatWasNeverLiveAtOnce() {
    assertThat(most("arenas", FreeMemory.of(statistics(9, 0), 650_000, 400_000)))
        .isEqualTo(600_000);
    assertThat(most("arenas", FreeMemory.of(statistics(9, 0), 650_000, 990_000))).isEqualTo(10_000);
    assertThat(most("arenas", FreeMemory.of(statistics(9, 0), 20_000, 400_000))).isEqualTo(20_000);
  }

  @Test
  void whatCannotBeEstimatedIsNoNumber() {
    List<PinnedMemory.Effect> of2 =
        FreeMemory.of(statistics(2, 0), 650_000, 400_000).effects(Estimate.ZERO);
    assertThat(of2).extracting(PinnedMemory.Effect::measure).containsExactly("trim", "allocator");
    assertThat(of2.get(1).highBytes()).isNaN();
    assertThat(of2.get(1).sentence()).contains("not estimated, because");
    assertThat(FreeMemory.of(statistics(9, 0), 650_000, Double.NaN).effects(Estimate.ZERO))
        .extracting(PinnedMemory.Effect::measure)
        .containsExactly("trim", "allocator");
  }

  private static double most(String measure, FreeMemory free) {
    return free.effects(Estimate.ZERO).stream()
        .filter(effect -> effect.measure().equals(measure))
        .findFirst()
        .orElseThrow()
        .bytes();
  }

  private static AllocatorStatistics statistics(int arenas, double trimmable) {
    return new AllocatorStatistics(
        Instant.EPOCH,
        AllocatorKind.GLIBC,
        arenas,
        1_000_000,
        300_000,
        700_000,
        0,
        560_000,
        Double.NaN,
        trimmable,
        0,
        List.of(new AllocatorStatistics.Arena(0, 1_000_000, 300_000, 700_000, 560_000, 100_000)),
        List.of(),
        0.001);
  }
}
