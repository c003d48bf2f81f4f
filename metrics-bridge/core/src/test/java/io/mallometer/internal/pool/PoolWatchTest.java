package io.mallometer.internal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.PoolReport.BufferSite;
import io.mallometer.model.PoolReport.Pool;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PoolWatchTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final int BYTES = 8192;

  private NettyLoader loader;
  private NettyLoader.Use use;
  private Watched watched;

  @BeforeEach
  void start() throws Exception {
    loader = NettyLoader.of("");
    use = loader.use("io.netty", "pooled").level("PARANOID");
    watched = new Watched(loader);
  }

  @AfterEach
  void end() throws Exception {
    loader.close();
  }

  @Test
  void buffersThatArriveAndAreNeverReleasedAreASuspectAfterAFewMinutes() throws Exception {
    watched.lookAfter(MINUTE);
    for (int minute = 0; minute < 9; minute++) {
      use.keep(1, BYTES);
      assertThat(site().hold().suspect()).isFalse();
    }
    use.keep(1, BYTES);
    BufferSite site = site();

    assertThat(site.hold().suspect()).isTrue();
    assertThat(site.hold().risingSeconds()).isEqualTo(540);
    assertThat(site.hold().sentence())
        .matches(
            "Buffers from NettyUse\\.keep \\(NettyUse\\.java:\\d+\\) are held longer and longer:"
                + " 9 tracked ones were held for more than a minute, for up to 9 min, none was"
                + " released, and more arrive");
  }

  @Test
  void aSuspectIsNoOlderThanItsOldestBufferThatArrivedUnderWatch() throws Exception {
    use.keep(1, BYTES);
    for (int minute = 0; minute < 40; minute++) {
      watched.lookAfter(MINUTE);
    }
    for (int minute = 0; minute < 10; minute++) {
      use.keep(1, BYTES);
      watched.lookAfter(MINUTE);
    }
    BufferSite site = site();

    assertThat(site.hold().suspect()).isTrue();
    assertThat(site.tracks().oldestSeconds()).isGreaterThan(2_400);
    assertThat(site.hold().risingSeconds()).isEqualTo(600);
  }

  @Test
  void buffersOfASlowStartAreNoSuspect() throws Exception {
    use.keep(100, BYTES);
    watched.slow(Duration.ofMillis(2));
    for (int look = 0; look < 30; look++) {
      watched.lookAfter(Duration.ofSeconds(10));
    }
    watched.slow(Duration.ZERO);
    for (int minute = 0; minute < 10; minute++) {
      assertThat(site().hold().suspect()).isFalse();
    }
    assertThat(site().tracks().tracked()).isEqualTo(100);
  }

  @Test
  void buffersThatAreReleasedAreForgottenThoughEachLookRunsOutOfTime() throws Exception {
    use.keep(100, BYTES);
    watched.pool();
    use.release(80);
    use.keep(80, BYTES);
    watched.slow(Duration.ofMillis(30));

    assertThat(site().tracks().tracked()).isEqualTo(20);
    assertThat(site().tracks().releasedLate()).isZero();
    use.release(20);
    assertThat(watched.pool().bufferSites()).isEmpty();
    assertThat(watched.pool().reason())
        .isEqualTo("the look ended before all tracked buffers were read");
  }

  @Test
  void manyBuffersAreDrawnAndWeighted() throws Exception {
    use.keep(10_000, 256);

    BufferSite site = site();

    // The watch tracks 1,000 to 2,000 buffers. The lower bound allows for 6 standard errors.
    assertThat(site.tracks().tracked()).isBetween(800, 2_000);
    assertThat(site.buffers().value()).isBetween(8_000.0, 12_000.0);
    assertThat(site.buffers().low()).isLessThan(site.buffers().value());
    assertThat(site().tracks().tracked()).isEqualTo(site.tracks().tracked());
  }

  @Test
  void buffersOnTheHeapAreReadOnce() throws Exception {
    use.keepOnHeap(30, BYTES);
    use.keep(1, BYTES);
    watched.pool();
    watched.slow(Duration.ofMillis(1));

    assertThat(watched.pool().reason()).isEmpty();
  }

  @Test
  void callSitesAreNotReadIfThatCostsTooMuch() throws Exception {
    use.keep(1, BYTES);
    watched.affordable(false);
    watched.pool();
    assertThat(watched.siteReadings()).isZero();
    watched.affordable(true);
    watched.pool();
    assertThat(watched.siteReadings()).isEqualTo(1);
  }

  @Test
  void thePoolsSentenceNamesTheLineThatKeepsItsChunks() throws Exception {
    use.keep(100, BYTES);
    watched.pool();

    assertThat(watched.pool().sentence())
        .matches(
            "\\d.* MiB in \\d+ chunks? of Netty \\(pooled\\), \\d+ KiB used.*; 100 buffers from"
                + " NettyUse\\.keep \\(NettyUse\\.java:\\d+\\) keep at least (one|\\d+) of them");
  }

  @Test
  void buffersOfTheStartThatStayAreNoSuspect() throws Exception {
    use.keep(50, BYTES);
    for (int minute = 0; minute < 30; minute++) {
      assertThat(site().hold().suspect()).isFalse();
    }
  }

  @Test
  void buffersThatAreReleasedAfterMinutesAreNoSuspect() throws Exception {
    watched.lookAfter(MINUTE);
    for (int minute = 0; minute < 30; minute++) {
      use.keep(2, BYTES);
      if (minute >= 3) {
        use.release(2);
      }
      assertThat(site().hold().suspect()).as("minute " + minute).isFalse();
    }
  }

  @Test
  void aStoreOfTenMinutesIsNoSuspectOnceItIsSteady() throws Exception {
    watched.lookAfter(MINUTE);
    for (int minute = 0; minute < 90; minute++) {
      use.keep(20, BYTES);
      if (minute >= 10) {
        use.release(20);
      }
      BufferSite site = site();
      if (minute >= 25) {
        assertThat(site.hold().suspect()).as("minute " + minute).isFalse();
      }
      assertThat(site.hold().risingSeconds()).isLessThan(1_800);
    }
  }

  @Test
  void buffersThatNoLongerArriveAreNoSuspect() throws Exception {
    watched.lookAfter(MINUTE);
    for (int minute = 0; minute < 11; minute++) {
      use.keep(1, BYTES);
      site();
    }
    assertThat(site().hold().suspect()).isTrue();
    for (int minute = 0; minute < 5; minute++) {
      site();
    }
    assertThat(site().hold().suspect()).isFalse();
  }

  @Test
  void oneLookIsTakenAMinuteAndMoreWhileSomebodyAsks() {
    watched.lookAfter(Duration.ZERO);
    watched.lookAfter(Duration.ofSeconds(59));
    assertThat(watched.looks()).isEqualTo(1);
    watched.lookAfter(Duration.ofSeconds(1));
    assertThat(watched.looks()).isEqualTo(2);

    watched.watch().ask();
    watched.lookAfter(Duration.ofSeconds(9));
    assertThat(watched.looks()).isEqualTo(2);
    watched.lookAfter(Duration.ofSeconds(1));
    assertThat(watched.looks()).isEqualTo(3);
    watched.lookAfter(Duration.ofSeconds(10));
    assertThat(watched.looks()).isEqualTo(3);
  }

  @Test
  void aLookThatRunsOutOfTimeSaysSoAndGoesOnTenSecondsLater() throws Exception {
    use.keep(100, BYTES);
    watched.slow(Duration.ofMillis(1));
    Pool first = watched.pool();
    watched.slow(Duration.ZERO);
    Pool second = watched.lookAfter(Duration.ofSeconds(10)).orElseThrow().pools().get(0);

    assertThat(first.reason()).isEqualTo("the look ended before all tracked buffers were read");
    assertThat(first.bufferSites().get(0).tracks().tracked()).isBetween(10, 30);
    assertThat(second.reason()).isEmpty();
    assertThat(second.bufferSites().get(0).tracks().tracked()).isEqualTo(100);
  }

  @Test
  void aProgramWithoutAPoolHasNoReport() {
    watched.forgetLoaders();
    assertThat(watched.lookAfter(MINUTE)).isEmpty();
  }

  @Test
  void countsHaveThreeDigits() {
    assertThat(PoolText.grouped(7)).isEqualTo("7");
    assertThat(PoolText.grouped(2048)).isEqualTo("2,050");
    assertThat(PoolText.grouped(1_234_567)).isEqualTo("1,230,000");
  }

  private BufferSite site() {
    Pool pool = watched.pool();
    return pool.bufferSites().get(0);
  }
}
