package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.leak.evidence.DurationSketch;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests each rule of the leak test with a site whose verdict depends on this rule. */
@Tag("any-jdk")
class LeakTestTest {

  private static final long START = 77_000_000_000L;
  private static final double HALF_AN_HOUR = 1_800;
  private static final double FLOOR = 300;

  /**
   * The seconds at which objects are allocated. Objects allocated before second 1,500 are old
   * enough to be idle. One of them was allocated in the last third of this time, after second
   * 1,000.
   */
  private static final double[] ONE_IN_THE_LAST_THIRD = {
    0, 200, 400, 550, 600, 650, 700, 750, 800, 850, 900, 950, 1_490
  };

  // ---- The threshold

  @Test
  void objectsAreIdleAfterThreeEpochsAtTheEarliest() {
    assertThat(LeakTest.threshold(SiteUse.NONE, window(200), FLOOR)).isEqualTo(600);
  }

  @Test
  void objectsAreIdleAfterTwiceTheLifetimeAtTheEarliest() {
    assertThat(
            LeakTest.threshold(
                new SiteUse(90, 90, of400Seconds(), DurationSketch.NONE, DurationSketch.NONE),
                window(5),
                FLOOR))
        .isBetween(2 * 362.0, 2 * 512.0);
  }

  @Test
  void objectsAreIdleAfterThreeGapsBetweenUsesAtTheEarliest() {
    assertThat(
            LeakTest.threshold(
                new SiteUse(90, 0, DurationSketch.NONE, DurationSketch.NONE, of400Seconds()),
                window(5),
                FLOOR))
        .isBetween(3 * 362.0, 3 * 512.0);
  }

  // ---- The number of objects

  @Test
  void oneObjectInTheLastThirdDoesNotTellThatTheyKeepComing() {
    Assessment one = judge(bornAt(ONE_IN_THE_LAST_THIRD));
    assertThat(one.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(one.noLeakReason()).isEqualTo(NoLeakReason.TOO_FEW);
    assertThat(one.refutesLeak()).isFalse();

    List<SampledObject> two = bornAt(ONE_IN_THE_LAST_THIRD);
    two.add(born(1_400, 1));
    assertThat(judge(two).verdict()).isEqualTo(Verdict.LEAK);
  }

  /** The oldest object is idle for 36 minutes, the next one for 33. */
  @Test
  void oneObjectOutlastsTheTimeoutSurelyIfAnotherDoesSoAtAll() {
    List<SampledObject> rare = new ArrayList<>();
    for (int i = 0; i <= 20; i++) {
      double birth = i < 2 ? i * 180 : 420 + (i - 2) * 90;
      rare.add(new SampledObject(1, 1 << 20, 1, 1, nanos(birth), nanos(birth)));
    }
    assertThat(judgeAfter(36 * 60, rare).verdict()).isEqualTo(Verdict.LEAK);
    assertThat(judgeAfter(34 * 60, rare).verdict()).isEqualTo(Verdict.UNUSED);
    rare.remove(1);
    assertThat(judgeAfter(36 * 60, rare).verdict()).isEqualTo(Verdict.UNUSED);
  }

  private static Assessment judgeAfter(double seconds, List<SampledObject> objects) {
    IdleLimits times = new IdleLimits(FLOOR, 1_800, 1);
    return LeakTest.judge(
        objects,
        SiteUse.NONE,
        new ObservationWindow(START, nanos(seconds), 5, times, VoidTime.NONE));
  }

  /** A sampled object represents thousands of objects if few objects can be observed. */
  @Test
  void oneObjectThatStandsForThousandsDoesNotMakeTheOthersFewer() {
    List<SampledObject> idle = new ArrayList<>();
    for (int i = 0; i < 73; i++) {
      idle.add(born(i * 20, 1));
    }
    assertThat(judge(idle).verdict()).isEqualTo(Verdict.LEAK);

    idle.add(new SampledObject(1, 64 << 10, 1, 1 / 36_000.0, nanos(700), nanos(700)));
    assertThat(judge(idle).verdict()).isEqualTo(Verdict.LEAK);
    assertThat(judge(idle).refutesLeak()).isFalse();
  }

  /**
   * An object whose accesses are observed is judged like any other object, even if it has more than
   * {@code LARGEST_PLACED_BYTES}.
   */
  @ParameterizedTest
  @ValueSource(longs = {(16 << 20) - 8, 16 << 20})
  void objectsThatFillASlotAreJudgedAsOthers(long bytes) {
    List<SampledObject> large = new ArrayList<>();
    for (double birth : new double[] {0, 250, 500, 750, 1_000, 1_250}) {
      large.add(new SampledObject(1, bytes, 1, 1, nanos(birth), nanos(birth)));
    }
    assertThat(judge(large).verdict()).isEqualTo(Verdict.LEAK);
  }

  private static Assessment judge(List<SampledObject> objects) {
    return LeakTest.judge(objects, SiteUse.NONE, window(5));
  }

  private static ObservationWindow window(double epochSeconds) {
    return new ObservationWindow(
        START, nanos(HALF_AN_HOUR), epochSeconds, new IdleLimits(FLOOR, 0, 1), VoidTime.NONE);
  }

  private static List<SampledObject> bornAt(double... seconds) {
    return new ArrayList<>(DoubleStream.of(seconds).mapToObj(birth -> born(birth, 1)).toList());
  }

  /** Returns an observed object that was accessed only when it was allocated. */
  private static SampledObject born(double seconds, double probability) {
    return new SampledObject(1, 128 << 10, probability, 1, nanos(seconds), nanos(seconds));
  }

  private static DurationSketch of400Seconds() {
    float[] weights = new float[DurationSketch.BUCKETS];
    weights[DurationSketch.bucket(400)] = 90;
    return new DurationSketch(90, weights);
  }

  private static long nanos(double seconds) {
    return START + Math.round(seconds * 1e9);
  }
}
