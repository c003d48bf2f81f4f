package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.CpuTime;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.model.Observation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the time in which accesses to objects were not observed (void time). Epochs last 5 s. */
@Tag("any-jdk")
class VoidTimeTest {

  private static final long SECOND = 1_000_000_000L;
  private static final long START = 77 * SECOND;

  private final VoidTime voidTime = new VoidTime();

  @Test
  void voidEpochsCountWhenTheNextEndsThatSaysSomething() {
    read(100, 100, 0);
    read(115, 100, 3);
    assertThat(voidTime.secondsSince(START)).isZero();

    read(130, 125, 5);
    // The fifth void epoch, from second 125 to second 130, does not count until the next valid
    // epoch ends.
    assertThat(voidTime.secondsSince(START)).isEqualTo(20);
    assertThat(voidTime.secondsSince(at(125))).isZero();

    read(135, 135, 5);
    assertThat(voidTime.secondsSince(at(125))).isEqualTo(5);
  }

  @Test
  void neverWasMoreVoidThanTheTimeThatPassed() {
    read(100, 100, 1_000);
    assertThat(voidTime.secondsSince(START)).isEqualTo(100);
    assertThat(voidTime.secondsSince(at(90))).isEqualTo(10);
  }

  @Test
  void theOldestSpansBecomeOne() {
    for (int i = 1; i <= 1_000; i++) {
      read(10 * i, 10 * i, i);
    }
    assertThat(voidTime.secondsSince(START)).isEqualTo(5_000);
    assertThat(voidTime.secondsSince(at(9_000))).isEqualTo(500);
    // The void time since second 100 is 4,950 s. However, the oldest periods were merged into one
    // that begins at second 0, and all void time of the merged period counts.
    assertThat(voidTime.secondsSince(at(100))).isEqualTo(5_000);
  }

  /** An access in void time is not observed. Here 10 s of each 500 s are void. */
  @Test
  void usesAreHiddenWithTheVoidPartOfTheTimeInWhichTheyCame() {
    for (int i = 1; i <= 8; i++) {
      read(500 * i, 500 * i, 2 * i);
    }
    // The first term is for exactly one use, which was not observed. Uses are at most 1,000 s
    // apart, so the use came between second 250 and second 1,000. At most 20 s of these 750 s were
    // not observed. The second term is for two uses at any time, none of them observed. At most 30
    // s of all 1,250 s were not observed.
    assertThat(voidTime.hiddenUseProbability(at(0), at(1_250), 1_000))
        .isCloseTo(20 / 750.0 + Math.pow(30 / 1_250.0, 2), within(1e-12));
    // The first term is for exactly two uses, none of them observed. The first use came between
    // second 400 and second 1,000, and the second between second 1,400 and second 2,000. In each of
    // the two intervals, at most 20 of 600 s were not observed. The second term is for three uses
    // at any time, none of them observed. At most 50 s of all 2,400 s were not observed.
    assertThat(voidTime.hiddenUseProbability(at(0), at(2_400), 1_000))
        .isCloseTo(Math.pow(20 / 600.0, 2) + Math.pow(50 / 2_400.0, 3), within(1e-12));
    assertThat(voidTime.hiddenUseProbability(at(0), at(4_000), 0)).isZero();
  }

  /**
   * A single use came between second 990 and second 1,000. Accesses were not observed in 5 of these
   * 10 s.
   */
  @Test
  void aUseIsHiddenWithTheVoidPartOfAShortSpan() {
    read(990, 990, 0);
    read(1_000, 1_000, 1);
    assertThat(voidTime.hiddenUseProbability(at(0), at(1_990), 1_000)).isCloseTo(0.5, within(1e-4));
  }

  /**
   * A simulated program reads all its objects every 30 minutes. In a twentieth of the epochs, an
   * access is not seen.
   */
  @Test
  void ofProgramsWhoseFirstScanWasHiddenOneIn100IsTakenForOneWithoutScans() {
    Random random = new Random(1);
    int processes = 6_000;
    int wrong = 0;
    for (int process = 0; process < processes; process++) {
      wrong += isTakenForOneWithoutScans(random, 1_800) ? 1 : 0;
    }
    assertThat(wrong / (double) processes).isLessThan(0.01);
  }

  private static boolean isTakenForOneWithoutScans(Random random, int scan) {
    boolean[] isVoid = new boolean[2 * scan / 5];
    for (int epoch = 0; epoch < isVoid.length; epoch++) {
      isVoid[epoch] = random.nextInt(20) == 0;
    }
    int phase = 1 + random.nextInt(4);
    if (!isVoid[(scan - phase) / 5 + 1]) {
      return false;
    }
    VoidTime voidTime = new VoidTime();
    long voids = 0;
    long latest = 0;
    int agreeing = 0;
    for (int epoch = 0; epoch < isVoid.length && agreeing < 3; epoch++) {
      long end = phase + 5L * epoch;
      voids += isVoid[epoch] ? 1 : 0;
      latest = isVoid[epoch] ? latest : end;
      if (epoch % 3 == 0) {
        read(voidTime, end, latest, voids);
        agreeing = isAnyOutlasted(voidTime, latest, scan) ? agreeing + 1 : 0;
      }
    }
    return agreeing == 3;
  }

  private static boolean isAnyOutlasted(VoidTime voidTime, long end, int scan) {
    for (long birth = 5; birth < scan && end - birth >= scan + 300; birth += 30) {
      if (end - birth - voidTime.secondsSince(at(birth)) >= scan + 300
          && voidTime.hiddenUseProbability(at(birth), at(end), scan)
              <= LeakThresholds.HIDDEN_PROBABILITY) {
        return true;
      }
    }
    return false;
  }

  /** The time of a call does not grow with the age of the process, which is 30 days here. */
  @Test
  void ofManyUsesOnlyTheLatestCost() throws Exception {
    for (int i = 1; i <= 300; i++) {
      read(8_640L * i - 15, 8_640L * i - 15, i - 1);
      read(8_640L * i, 8_640L * i, i);
    }
    assertThat(
            CpuTime.of(
                () -> {
                  for (int i = 0; i < 1_000; i++) {
                    assertThat(voidTime.hiddenUseProbability(at(i), at(300 * 8_640), 60))
                        .isLessThan(LeakThresholds.HIDDEN_PROBABILITY);
                  }
                }))
        .isLessThan(Duration.ofSeconds(3));
  }

  private void read(long now, long latestEnd, long voidEpochs) {
    read(voidTime, now, latestEnd, voidEpochs);
  }

  private static void read(VoidTime voidTime, long now, long latestEnd, long voidEpochs) {
    voidTime.add(
        new Evidence(
            at(now),
            VerdictsByHand.observation(
                Observation.State.ON,
                new Observation.Period("cold", START, at(latestEnd), 5, now / 5, voidEpochs, 0)),
            List.of(),
            Map.of()));
  }

  private static long at(long seconds) {
    return START + seconds * SECOND;
  }
}
