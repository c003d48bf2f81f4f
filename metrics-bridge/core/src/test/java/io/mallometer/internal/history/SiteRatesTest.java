package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import java.time.Instant;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the rates at which call sites allocate. The sites are read every 15 s. */
@Tag("any-jdk")
class SiteRatesTest {

  private static final int STEP = 15;
  private static final int MINUTE = 60;
  private static final int HOUR = 60 * MINUTE;
  private static final double BYTES = 524_288;

  private final SiteHistory history = new SiteHistory();
  private double bytesOfASample = BYTES;
  private double rate;
  private double over;

  @Test
  void aSlowSteadyLeakNeverLooksAsIfItHadEnded() {
    LongUnaryOperator oneAMinute = seconds -> 5 + seconds / MINUTE;
    for (int seconds = 0; seconds <= 3 * HOUR; seconds += STEP) {
      read(seconds, oneAMinute.applyAsLong(seconds));
      if (seconds >= 2 * MINUTE) {
        assertThat(rate).isCloseTo(BYTES / MINUTE, within(BYTES / MINUTE / 2));
      }
      if (seconds >= 30 * MINUTE) {
        assertThat(rate).isCloseTo(BYTES / MINUTE, within(BYTES / MINUTE / 20));
      }
    }
  }

  @Test
  void theRateOfASiteWithManySamplesIsThatOfTheLastHalfMinute() {
    LongUnaryOperator burst = seconds -> seconds < HOUR ? 10 : 10 + 40 * (seconds - HOUR);
    for (int seconds = 0; seconds <= HOUR + 30; seconds += STEP) {
      read(seconds, burst.applyAsLong(seconds));
    }
    assertThat(rate).isEqualTo(40 * BYTES);
    assertThat(over).isEqualTo(30);
  }

  @Test
  void aSiteThatStoppedFallsToZeroOnceNoWindowHoldsItsSamples() {
    LongUnaryOperator stopped = seconds -> Math.min(seconds, 10 * MINUTE);
    for (int seconds = 0; seconds <= 71 * MINUTE; seconds += STEP) {
      read(seconds, stopped.applyAsLong(seconds));
      if (seconds > 10 * MINUTE && seconds < 69 * MINUTE) {
        assertThat(rate).isPositive().isLessThanOrEqualTo(BYTES);
      }
    }
    assertThat(rate).isZero();
  }

  @Test
  void aSiteThatStoppedHasNoRateHoweverMuchItAllocatedBefore() {
    bytesOfASample = 524_289.7;
    for (int seconds = 0; seconds <= 70 * MINUTE; seconds += STEP) {
      read(seconds, 2_000_001);
      assertThat(seconds == 0 ? 0 : rate).isZero();
    }
  }

  @Test
  void aSiteOfWhichFewSamplesAreKnownHasTheRateSinceTheFirstReading() {
    read(0, 2);
    assertThat(rate).isNaN();
    read(10, 4);
    assertThat(rate).isEqualTo(2 * BYTES / 10);
    read(20 * MINUTE, 5);
    assertThat(rate).isEqualTo(3 * BYTES / (20 * MINUTE));
    assertThat(over).isEqualTo(20 * MINUTE);
  }

  @Test
  void ofASiteThatAMomentLeftOutAnEarlierOneTells() {
    read(0, 7);
    history.add(SitesByHand.reading(at(MINUTE), manyOthers()), nanos(MINUTE));
    read(2 * MINUTE, 107);
    assertThat(rate).isEqualTo(100 * BYTES / (2 * MINUTE));
  }

  private static List<CallSite> manyOthers() {
    return IntStream.range(10, 10_000)
        .mapToObj(number -> SitesByHand.site(number, "a.B.c", "liba.so", 1e12 + number))
        .toList();
  }

  private void read(int seconds, long samples) {
    CallSites read = SitesByHand.reading(at(seconds), List.of(site(samples)));
    CallSites rated = history.withRates(read, nanos(seconds));
    history.add(rated, nanos(seconds));
    rate = rated.sites().get(0).bytesPerSecond();
    over = rated.sites().get(0).rateSeconds();
  }

  private CallSite site(long samples) {
    CallSite site = SitesByHand.site(3, "a.B.c", "liba.so", 1);
    return new CallSite(
        site.number(),
        site.frames(),
        site.name(),
        site.library(),
        samples,
        site.allocatedObjects(),
        new Estimate(samples * bytesOfASample, 0, samples),
        site.liveObjects(),
        site.liveBytes(),
        Double.NaN,
        Double.NaN,
        site.ages());
  }

  private static Instant at(int seconds) {
    return Instant.EPOCH.plusSeconds(seconds);
  }

  private static long nanos(int seconds) {
    return seconds * 1_000_000_000L - 7;
  }
}
