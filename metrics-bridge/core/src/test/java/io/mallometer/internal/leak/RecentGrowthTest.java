package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests which sites have more live memory than a few minutes ago. */
@Tag("any-jdk")
class RecentGrowthTest {

  private static final int SITE = 3;
  private static final double MIB = 1 << 20;

  private final RecentGrowth growth = new RecentGrowth(1);
  private final List<SampledObject> live = new ArrayList<>();
  private Evidence.Counted counted = Evidence.Counted.FROM_START;

  @Test
  void whatComesOftenAndStaysGrowsAfterTheShortestTime() {
    at(0);
    every(5, 5, 85, MIB / 4);
    assertThat(at(85)).isEmpty();

    every(5, 90, 120, MIB / 4);
    Increase increase = at(120).orElseThrow();

    assertThat(increase.seconds()).isEqualTo(120);
    assertThat(increase.bytes()).isCloseTo(24 * MIB / 4, within(1.0));
    assertThat(increase.born()).isEqualTo(24);
  }

  @Test
  void largeObjectsThatComeSeldomGrowAfterAQuarterOfAnHour() {
    for (int second = 0; second <= 900; second += 60) {
      born(second, 17 * MIB);
      assertThat(at(second).isPresent()).isEqualTo(second >= 900);
    }
  }

  @Test
  void aBurstDoesNotGrow() {
    at(0);
    every(1, 60, 100, MIB);
    assertThat(at(120)).isEmpty();
  }

  @Test
  void whatReplacesOthersDoesNotGrow() {
    every(2, -200, 0, MIB);
    at(0);
    live.clear();
    every(2, 1, 120, 1.5 * MIB);
    assertThat(at(120)).isEmpty();
  }

  @Test
  void sevenObjectsDoNotGrow() {
    at(0);
    every(17, 10, 119, MIB);
    assertThat(live).hasSize(7);
    assertThat(at(120)).isEmpty();
    born(119, MIB);
    assertThat(at(121)).isPresent();
  }

  @Test
  void crumbsDoNotGrow() {
    at(0);
    every(2, 0, 120, 1_000);
    assertThat(at(120)).isEmpty();
  }

  @Test
  void aHeavySampleDoesNotStandForMany() {
    at(0);
    every(10, 10, 110, MIB);
    born(115, MIB, 0.001);
    assertThat(at(120)).isEmpty();
  }

  /**
   * The 60 MiB of new objects replace older objects, so the net bytes since the attach stay at 0.
   */
  @Test
  void whatReplacesOlderObjectsAfterAnAttachDoesNotGrow() {
    attached(0);
    at(0);
    every(2, 1, 119, MIB);
    attached(0);
    assertThat(at(120)).isEmpty();
    assertThat(rateOf().bytesPerHour()).isZero();
  }

  @Test
  void whatIsMoreThanWasReplacedGrows() {
    attached(0);
    at(0);
    every(2, 1, 119, MIB);
    attached(31 * MIB);
    assertThat(at(120))
        .map(Increase::bytes)
        .hasValueSatisfying(more -> assertThat(more).isCloseTo(31 * MIB, within(1.0)));
  }

  /**
   * 20 MiB were live at the attach, so at most 20 of the 60 MiB of new objects replaced older ones.
   */
  @Test
  void noMoreIsReplacedThanWasLiveAtTheAttach() {
    counted = new Evidence.Counted(0, 20 * MIB);
    at(0);
    every(2, 1, 119, MIB);
    assertThat(at(120))
        .map(Increase::bytes)
        .hasValueSatisfying(more -> assertThat(more).isCloseTo(40 * MIB, within(1.0)));
  }

  private void attached(double netBytes) {
    counted = new Evidence.Counted(netBytes, 1_000 * MIB);
  }

  @Test
  void thePaceIsThatOfTheLastMinutes() {
    for (int second = 0; second <= 600; second += 15) {
      every(5, second - 10, second, second <= 300 ? MIB : 2 * MIB);
      at(second);
    }
    assertThat(rateOf().bytesPerHour()).isCloseTo(1_440 * MIB, within(1.0));
    assertThat(rateOf().quietSeconds()).isZero();
  }

  @Test
  void whatCameOftenAndComesNoMoreDoesNotGrow() {
    for (int second = 0; second <= 900; second += 15) {
      if (second <= 600) {
        every(5, second - 10, second, MIB);
      }
      at(second);
      assertThat(rateOf().bytesPerHour() > 0).isEqualTo(second >= 90 && second <= 690);
    }
    assertThat(rateOf().quietSeconds()).isEqualTo(300);
  }

  /**
   * The site allocates only six times an hour. Ten minutes without a sample must not end its
   * growth.
   */
  @Test
  void whatComesSeldomGrowsOn() {
    for (int second = 0; second <= 7_200; second += 15) {
      if (second % 600 == 0) {
        born(second, MIB);
      }
      at(second);
      if (second >= 3_600) {
        assertThat(rateOf().bytesPerHour()).isBetween(4 * MIB, 8 * MIB);
      }
    }
  }

  @Test
  void whatIsReplacedDoesNotGrow() {
    for (int second = 0; second <= 600; second += 15) {
      every(5, second - 10, second, MIB);
      live.subList(0, Math.max(0, live.size() - 20)).clear();
      at(second);
    }
    assertThat(rateOf().bytesPerHour()).isZero();
  }

  private GrowthRate rateOf() {
    return growth.rateOf(List.of(SITE), live);
  }

  @Test
  void anHourOfReadingsIsKeptHoweverManyThereAre() {
    for (int second = 0; second <= 86_400; second += 15) {
      if (second % 600 == 0) {
        live.removeIf(object -> live.size() > 20);
        born(second, 8 * MIB);
      }
      at(second);
    }
    assertThat(growth.readings()).isBetween(30, 45);
  }

  private void every(double step, double from, double to, double bytes) {
    for (double second = from; second <= to; second += step) {
      born(second, bytes);
    }
  }

  private void born(double second, double bytes) {
    born(second, bytes, 1);
  }

  private void born(double second, double bytes, double probability) {
    live.add(new SampledObject(SITE, (long) bytes, probability, 0, nanos(second), 0));
  }

  private Optional<Increase> at(double second) {
    SamplesBySite samples = new SamplesBySite(live);
    growth.add(samples, counted, nanos(second) / 1e9);
    return growth.increaseOf(List.of(SITE), samples.of(SITE));
  }

  private static long nanos(double second) {
    return Math.round((second + 1_000) * 1e9);
  }
}
