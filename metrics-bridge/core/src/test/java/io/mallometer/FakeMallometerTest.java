package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.model.TrimReport.Outcome;
import io.mallometer.view.Views;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class FakeMallometerTest {

  @AutoClose private final FakeMallometer mallometer = new FakeMallometer();

  @Test
  void whatIsSetIsInTheNextSnapshot() {
    assertThat(mallometer.status().active()).isTrue();

    mallometer.setStatus(new Status(State.DISABLED, "switched off", "switch it on"));
    assertThat(mallometer.status().active()).isTrue();
    mallometer.poll();
    assertThat(mallometer.status().reason()).isEqualTo("switched off");
  }

  @Test
  void anHourOfHistoryTakesNoTime() {
    for (int minute = 0; minute < 60; minute++) {
      mallometer.advance(Duration.ofMinutes(1));
      mallometer.poll();
    }
    assertThat(mallometer.history().points()).hasSize(60);
  }

  @Test
  void callSitesAreReadAnewAfterASecond() {
    mallometer.setSites(SitesByHand.reading());
    assertThat(mallometer.sites().read().sites()).isEmpty();

    mallometer.setSites(SitesByHand.three());
    assertThat(mallometer.sites().read().sites()).isEmpty();
    mallometer.advance(Duration.ofSeconds(1));
    assertThat(mallometer.sites().read().sites()).hasSize(3);
  }

  /**
   * A reading of the call sites takes 2 s here, and is then too old to be used again. A request
   * that needed the call sites twice would therefore read them twice.
   */
  @Test
  void aDifferenceToSomeTimeAgoReadsTheCallSitesOnce() {
    ScriptedLibrary library =
        new ScriptedLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
    FakeMallometer mallometer = new FakeMallometer(library);
    mallometer.setSites(SitesByHand.three());
    mallometer.sites().read();
    library.onCallSiteReading(() -> mallometer.advance(Duration.ofSeconds(2)));
    mallometer.advance(Duration.ofMinutes(1));
    int before = library.callSiteReadings();

    new Views(mallometer).answer("pprof", Map.of("seconds", "60"));
    assertThat(library.callSiteReadings()).isEqualTo(before + 1);
  }

  @Test
  void aTrimIsRefusedForAMinute() {
    assertThat(mallometer.allocator().trim().outcome()).isEqualTo(Outcome.DONE);
    assertThat(mallometer.allocator().trim().outcome()).isEqualTo(Outcome.REFUSED);
    mallometer.advance(Duration.ofMinutes(1));
    assertThat(mallometer.allocator().trim().outcome()).isEqualTo(Outcome.DONE);
    assertThat(mallometer.trims()).isEqualTo(2);
  }
}
