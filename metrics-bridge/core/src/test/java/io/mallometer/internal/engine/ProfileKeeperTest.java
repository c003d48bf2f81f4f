package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.ScriptedLibrary;
import io.mallometer.SitesByHand;
import io.mallometer.internal.history.Recorder;
import io.mallometer.model.CallSites;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Tests which readings of the call sites are stored, such as the one at the peak of the live bytes,
 * and the cost of storing them.
 */
class ProfileKeeperTest {

  private static final double MIB = 1 << 20;

  private final ScriptedLibrary library =
      new ScriptedLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final CallSiteReader reader =
      new CallSiteReader(library, library.clock(), library::nanoTime);
  private final ProfileKeeper keeper =
      new ProfileKeeper(reader, new Recorder(library, library::nanoTime)::keep, library.clock());

  @Test
  void theHighestLiveBytesArePeak() {
    at(100, 0.1);
    at(300, 0.1);
    at(200, 0.1);

    CallSites peak = keeper.at(KeptMoment.PEAK);
    assertThat(peak.sites().get(0).liveBytes().value()).isEqualTo(300 * MIB);
    assertThat(peak.sites().get(0).frames()).isNotEmpty();
    assertThat(peak.sites().get(0).bytesPerSecond()).isNaN();
    assertThat(reader.callSites().sites().get(0).liveBytes().value()).isEqualTo(200 * MIB);
  }

  @Test
  void memoryThatHardlyGrowsCostsNoReading() {
    at(100, 0.1);
    int readings = library.callSiteReadings();
    for (int i = 0; i < 100; i++) {
      at(101, 0.1);
    }
    assertThat(library.callSiteReadings()).isEqualTo(readings);
  }

  @Test
  void aDearReadingMakesAPeakWaitAndNoExceededShare() {
    library.onCallSiteReading(() -> library.advanceClock(Duration.ofSeconds(1)));
    at(100, 0.1);
    at(200, 0.1);
    assertThat(liveMib(KeptMoment.PEAK)).isEqualTo(100);
    at(300, 0.86);
    assertThat(liveMib(KeptMoment.PEAK)).isEqualTo(300);
    assertThat(liveMib(KeptMoment.LIMIT_85)).isEqualTo(300);
  }

  @Test
  void eachExceededShareKeepsTheSitesOfItsLastTime() {
    at(100, 0.86);
    at(110, 0.97);
    assertThat(liveMib(KeptMoment.LIMIT_85)).isEqualTo(100);
    assertThat(liveMib(KeptMoment.LIMIT_90)).isEqualTo(110);
    assertThat(liveMib(KeptMoment.LIMIT_95)).isEqualTo(110);

    at(50, 0.5);
    at(90, 0.87);
    assertThat(liveMib(KeptMoment.LIMIT_85)).isEqualTo(90);
    assertThat(liveMib(KeptMoment.LIMIT_90)).isEqualTo(110);
  }

  @Test
  void aJustReadListIsReadAgainForASizeOrShareThatIsExceeded() {
    at(100, 0.1);
    reader.callSites();
    now(200);
    assertThat(keeper.keepPresent().sites().get(0).liveBytes().value()).isEqualTo(200 * MIB);
    assertThat(liveMib(KeptMoment.LIVE_SIZE)).isEqualTo(200);

    now(300);
    observe(300, 0.86);
    assertThat(liveMib(KeptMoment.LIMIT_85)).isEqualTo(300);
  }

  @Test
  void whatWasNotKeptIsToldWithTheReason() {
    assertThat(keeper.at(KeptMoment.PEAK).reason()).isEqualTo("no call sites have been stored yet");
    assertThat(keeper.at(KeptMoment.LIMIT_95).reason())
        .isEqualTo("95 % of the memory limit was not exceeded while call sites were recorded");
    keeper.published(Snapshot.absent(library.clock().instant(), Status.counting()));
    assertThat(library.callSiteReadings()).isZero();
  }

  private double liveMib(KeptMoment moment) {
    CallSites kept = keeper.at(moment);
    assertThat(kept.reason()).isEmpty();
    return kept.sites().get(0).liveBytes().value() / MIB;
  }

  private void at(double liveMib, double shareOfLimit) {
    library.advanceClock(Duration.ofSeconds(5));
    now(liveMib);
    observe(liveMib, shareOfLimit);
    reader.letGo();
  }

  private void now(double liveMib) {
    library.setCallSites(
        SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", liveMib * MIB)));
  }

  private void observe(double liveMib, double shareOfLimit) {
    double live = liveMib * MIB;
    library.setCounters(
        new NativeCounters(
            SizeDistribution.of(sizeClass -> 1),
            0,
            0,
            0,
            (long) live,
            0,
            live,
            0,
            Double.NaN,
            0,
            1,
            true));
    CgroupMemory cgroup = cgroup(shareOfLimit);
    keeper.published(
        library
            .read(library.clock().instant())
            .with(
                new ProcessMemory(
                    Double.NaN, Optional.empty(), Optional.of(cgroup), Optional.empty())));
  }

  private static CgroupMemory cgroup(double share) {
    return new CgroupMemory(
        2,
        (long) (1000 * MIB * share),
        Map.of(ChargedPart.THIS_PROCESS, (long) (1000 * MIB * share)),
        1000 * MIB,
        Double.NaN,
        1000 * MIB * share,
        Double.NaN,
        Map.of(),
        Optional.empty());
  }
}
