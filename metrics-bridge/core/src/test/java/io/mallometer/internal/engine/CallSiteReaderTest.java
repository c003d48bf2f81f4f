package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.mallometer.FaceContract;
import io.mallometer.ScriptedLibrary;
import io.mallometer.SitesByHand;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Grouping;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteSummary.Share;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests how often call sites are read, and the changes between two readings. */
class CallSiteReaderTest {

  private final ScriptedLibrary library =
      new ScriptedLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final AtomicLong nanoTime = new AtomicLong(-5);
  private final CallSiteReader reader =
      new CallSiteReader(library, Clock.fixed(Instant.EPOCH, ZoneOffset.UTC), nanoTime::get);

  @Test
  void thePollerReadsWhenTheResidentSetIsDividedAndWithoutThatEvery20Seconds() {
    reader.readIfDue(false);
    elapse(Duration.ofSeconds(15));
    reader.readIfDue(true);
    assertThat(library.callSiteReadings()).isEqualTo(2);

    elapse(Duration.ofSeconds(20).minusMillis(1));
    reader.readIfDue(false);
    assertThat(library.callSiteReadings()).isEqualTo(2);
    elapse(Duration.ofMillis(1));
    reader.readIfDue(false);
    assertThat(library.callSiteReadings()).isEqualTo(3);
  }

  @Test
  void aDearReadingIsRepeatedAsSeldomAsKeepsItUnderAThousandthOfTheTime() {
    library.onCallSiteReading(() -> elapse(Duration.ofMillis(25)));
    assertReadAgainAfter(Duration.ofSeconds(25));
  }

  @Test
  void theDearestReadingIsRepeatedEvery30Seconds() {
    library.onCallSiteReading(() -> elapse(Duration.ofSeconds(2)));
    assertReadAgainAfter(Duration.ofSeconds(30));
  }

  @Test
  void whoeverWatchesTrendsCausesNoMoreReadingsThanThePoller() {
    library.onCallSiteReading(() -> elapse(Duration.ofMillis(25)));
    library.setCallSites(SitesByHand.three());
    reader.readIfDue(false);
    elapse(Duration.ofSeconds(25).minusMillis(1));
    reader.trends(Grouping.SITE, 1);
    assertThat(library.callSiteReadings()).isEqualTo(1);

    elapse(Duration.ofMillis(1));
    reader.trends(Grouping.SITE, 1);
    assertThat(library.callSiteReadings()).isEqualTo(2);
  }

  @Test
  void aReadingForWhichNobodyAsksIsLetGoAndWhatFollowsFromItStays() {
    library.setCallSites(SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", 1_000)));
    reader.readIfDue(false);
    reader.notOlderThan(Duration.ofSeconds(15), 1);
    assertThat(library.callSiteReadings()).isEqualTo(1);

    reader.letGo();
    reader.notOlderThan(Duration.ofSeconds(15), 1);
    assertThat(library.callSiteReadings()).isEqualTo(2);
    assertThat(reader.summary().orElseThrow().sites()).startsWith(new Share("a.B.c", 1_000));

    reader.letGo();
    elapse(Duration.ofSeconds(10));
    library.setCallSites(SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", 1_500)));
    assertThat(reader.callSites().sites().get(0).bytesPerSecond()).isEqualTo(100);
  }

  @Test
  void aReadingForWhichSomebodyAskedIsHeldForTwoMinutes() {
    library.setCallSites(SitesByHand.three());
    reader.callSites();
    elapse(Duration.ofSeconds(120).minusMillis(1));
    reader.letGo();
    CallSites held = reader.notOlderThan(Duration.ofHours(1), 1);
    assertThat(library.callSiteReadings()).isEqualTo(1);
    assertThat(held.sites()).isNotEmpty();

    elapse(Duration.ofMillis(1));
    reader.letGo();
    reader.notOlderThan(Duration.ofHours(1), 1);
    assertThat(library.callSiteReadings()).isEqualTo(2);
  }

  @Test
  void whoAsksRightAfterAReadingWasLetGoGetsANewOne() {
    library.setCallSites(SitesByHand.three());
    reader.readIfDue(false);
    reader.letGo();

    assertThat(reader.callSites().sites()).hasSize(3);
    assertThat(reader.trends(Grouping.SITE, 1).groups()).isNotEmpty();
    assertThat(library.callSiteReadings()).isEqualTo(2);
  }

  @Test
  void aReadingThatWasLetGoIsMissedHoweverManyPollsAgo() {
    library.onCallSiteReading(() -> elapse(Duration.ofMillis(25)));
    library.setCallSites(SitesByHand.three());
    reader.readIfDue(false);
    reader.letGo();
    reader.letGo();
    assertThat(reader.notOlderThan(Duration.ofSeconds(15), 1).sites()).hasSize(3);

    reader.letGo();
    reader.letGo();
    assertThat(reader.callSites().sites()).hasSize(3);
  }

  @Test
  void aReadingThatFailsAfterTheLatestWasLetGoIsNotTakenForOneWithoutSites() {
    library.setCallSites(SitesByHand.three());
    reader.readIfDue(false);
    reader.letGo();
    library.onCallSiteReading(
        () -> {
          throw new IllegalStateException("made up");
        });
    assertThatThrownBy(reader::callSites).hasMessage("made up");
    assertThatThrownBy(() -> reader.notOlderThan(Duration.ofSeconds(15), 1)).hasMessage("made up");

    library.onCallSiteReading(() -> {});
    assertThat(reader.callSites().sites()).hasSize(3);
  }

  private void assertReadAgainAfter(Duration pause) {
    library.setCallSites(SitesByHand.three());
    reader.readIfDue(false);
    elapse(pause.minusMillis(1));
    reader.readIfDue(false);
    assertThat(library.callSiteReadings()).isEqualTo(1);

    elapse(Duration.ofMillis(1));
    reader.readIfDue(false);
    assertThat(library.callSiteReadings()).isEqualTo(2);
  }

  @Test
  void whoAsksGetsAReadingThatIsYoungerThanASecond() {
    library.setCallSites(SitesByHand.three());
    CallSites first = reader.callSites();
    elapse(Duration.ofMillis(999));
    assertThat(reader.callSites()).isSameAs(first);

    elapse(Duration.ofMillis(1));
    reader.callSites();
    assertThat(library.callSiteReadings()).isEqualTo(2);
  }

  @Test
  void thereAreNeverTwoReadingsAtOnce() throws Exception {
    library.setCallSites(SitesByHand.three());
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch start = new CountDownLatch(1);
    library.onCallSiteReading(
        () -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          Thread.yield();
          elapse(Duration.ofSeconds(2));
          running.decrementAndGet();
        });
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  start.await();
                } catch (InterruptedException e) {
                  return;
                }
                for (int k = 0; k < 100; k++) {
                  reader.callSites();
                }
              });
      thread.start();
      threads.add(thread);
    }
    start.countDown();
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(library.callSiteReadings()).isGreaterThan(100);
    assertThat(most).hasValue(1);
  }

  @Test
  void ratesAreWhatWasAllocatedSinceTheReadingBefore() {
    library.setCallSites(SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", 1_000)));
    assertThat(reader.callSites().sites().get(0).bytesPerSecond()).isNaN();

    elapse(Duration.ofSeconds(10));
    library.setCallSites(
        SitesByHand.reading(
            SitesByHand.site(1, "a.B.c", "liba.so", 1_500),
            SitesByHand.site(2, "a.B.d", "liba.so", 400)));
    List<CallSite> second = reader.callSites().sites();

    assertThat(second).extracting(CallSite::bytesPerSecond).containsExactly(100.0, 80.0);
  }

  @Test
  void aReadingThatFailsLeavesTheLatestAndIsNotRepeatedAtOnce() {
    library.setCallSites(SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", 1_000)));
    CallSites first = reader.callSites();
    elapse(Duration.ofSeconds(20));
    library.onCallSiteReading(
        () -> {
          throw new IllegalStateException("made up");
        });
    assertThatThrownBy(() -> reader.readIfDue(false)).hasMessage("made up");
    elapse(Duration.ofMillis(900));
    assertThat(reader.callSites()).isSameAs(first);
    reader.readIfDue(false);
    assertThat(library.callSiteReadings()).isEqualTo(2);

    elapse(Duration.ofMillis(19_100));
    library.onCallSiteReading(() -> {});
    library.setCallSites(SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", 1_400)));
    reader.readIfDue(false);
    assertThat(reader.callSites().sites().get(0).bytesPerSecond()).isEqualTo(20);
  }

  @Test
  void aRateThatTheSourceKnowsStays() {
    CallSite site = SitesByHand.site(1, "a.B.c", "liba.so", 1_000).withRate(42, 60);
    library.setCallSites(SitesByHand.reading(site));
    reader.callSites();
    elapse(Duration.ofSeconds(10));

    assertThat(reader.callSites().sites().get(0).bytesPerSecond()).isEqualTo(42);
  }

  @Test
  void afterAReadingWithoutSitesRatesAreUnknownAgain() {
    library.setCallSites(SitesByHand.three());
    reader.callSites();
    elapse(Duration.ofSeconds(10));
    library.setCallSites(CallSites.none(Instant.EPOCH, "not now"));
    reader.callSites();
    assertThat(reader.summary()).isEmpty();
    elapse(Duration.ofSeconds(10));
    library.setCallSites(SitesByHand.three());

    assertThat(reader.callSites().sites()).allMatch(site -> Double.isNaN(site.bytesPerSecond()));
  }

  @Test
  void theConfiguredPackagesNameTheSites() {
    reader.configure(
        Optional.of(
            MallometerOptions.defaults()
                .with(Setting.APPLICATION_PACKAGES, List.of("com.bank", "com.shop"))));
    reader.callSites();

    assertThat(library.applicationPackages()).containsExactly("com.bank", "com.shop");
  }

  @Test
  void theFirstTenAreNamedAndTheRestIsOther() {
    library.setCallSites(SitesByHand.reading(sites(30)));
    reader.callSites();
    SiteSummary summary = reader.summary().orElseThrow();

    assertThat(summary.sites()).hasSize(11).startsWith(new Share("a.B.m00", 10_000));
    assertThat(summary.sites().get(10)).isEqualTo(new Share("other", sumFrom(10)));
    assertThat(summary.libraries())
        .containsExactly(new Share("liba.so", sumFrom(0)), new Share("other", 0));
    assertThat(summary.residentSites())
        .hasSize(6)
        .containsEntry("a.B.m04", 0.75 * summary.sites().get(4).liveBytes())
        .containsEntry("other", 0.75 * sumFrom(5));
    assertThat(summary.largestSites()).hasSize(20);
    assertThat(summary.largestSites()).extracting(Share::name).endsWith("a.B.m19");
  }

  @Test
  void residentBytesAreThoseOfMallocAndOfMappings() {
    library.setCallSites(
        SitesByHand.reading(
            SitesByHand.site(1, "io.mallometer.internal.x.Y.read", "[java]", 400),
            SitesByHand.site(2, "a.B.d", "x", 100)));
    reader.read(library.read(library.clock().instant()).with(FaceContract.memory(1e9)));

    assertThat(reader.summary().orElseThrow().residentSites())
        .isEqualTo(Map.of("com.shop.Index.open", 800.0, "a.B.d", 75.0, "other", 300.0));
  }

  @Test
  void residentBytesAreUnknownIfThoseOfMallocAre() {
    library.setCallSites(
        SitesByHand.reading(SitesByHand.withoutResident(SitesByHand.site(2, "a.B.d", "x", 100))));
    reader.read(library.read(library.clock().instant()).with(FaceContract.memory(1e9)));

    assertThat(reader.summary().orElseThrow().residentSites()).isEmpty();
  }

  @Test
  void ownSitesArePartOfTheRest() {
    library.setCallSites(
        SitesByHand.reading(
            SitesByHand.site(1, "io.mallometer.internal.x.Y.read", "[java]", 500),
            SitesByHand.site(2, "a.B.d", "x", 100)));
    reader.callSites();
    SiteSummary summary = reader.summary().orElseThrow();

    assertThat(summary.sites()).containsExactly(new Share("a.B.d", 100), new Share("other", 500));
    assertThat(summary.largestSites()).containsExactly(new Share("a.B.d", 100));
    assertThat(summary.libraries())
        .containsExactly(new Share("[java]", 500), new Share("x", 100), new Share("other", 0));
    assertThat(reader.trends(Grouping.SITE, 10).groups())
        .extracting(group -> group.figures().key())
        .containsExactly("a.B.d");
    assertThat(reader.trends(Grouping.LIBRARY, 10).groups()).hasSize(2);
  }

  @Test
  void theSitesOfAPoolsChunksAreOneGroupForTheAccount() {
    reader.groupChunks(() -> Map.of(1, "Netty (pooled) chunks", 2, "Netty (pooled) chunks"));
    library.setCallSites(
        SitesByHand.reading(
            SitesByHand.site(1, "a.B.c", "x", 500),
            SitesByHand.site(2, "a.B.d", "x", 100),
            SitesByHand.site(3, "a.B.d", "x", 50)));
    reader.callSites();

    assertThat(reader.held().orElseThrow().groups())
        .extracting(group -> group.figures().key(), group -> group.figures().liveBytes().value())
        .containsExactlyInAnyOrder(tuple("Netty (pooled) chunks", 600.0), tuple("a.B.d", 50.0));
  }

  @Test
  void whoIsInStaysWhileAmongTheFirstFifteen() {
    CallSite[] sites = sites(30);
    library.setCallSites(SitesByHand.reading(sites));
    reader.callSites();
    overtake(sites, 9, 14);
    library.setCallSites(SitesByHand.reading(sites));
    elapse(Duration.ofSeconds(15));
    reader.callSites();
    assertThat(names()).contains("a.B.m09", "a.B.m10").doesNotContain("a.B.m11").hasSize(12);

    overtake(sites, 9, 15);
    library.setCallSites(SitesByHand.reading(sites));
    elapse(Duration.ofSeconds(15));
    reader.callSites();
    assertThat(names()).contains("a.B.m10").doesNotContain("a.B.m09").hasSize(11);
  }

  @Test
  void aSiteThatIsNamedOtherIsPartOfTheRest() {
    library.setCallSites(
        SitesByHand.reading(
            SitesByHand.site(1, "a.B.c", "other", 500), SitesByHand.site(2, "a.B.d", "x", 100)));
    reader.callSites();

    assertThat(reader.summary().orElseThrow().libraries())
        .containsExactly(new Share("x", 100), new Share("other", 500));
  }

  @Test
  void sitesOfTheSameCleanNameAreOneSeries() {
    library.setCallSites(
        SitesByHand.reading(
            SitesByHand.site(1, "a.B$$Lambda/0x00007f0012345678.run", "", 500),
            SitesByHand.site(2, "a.B$$Lambda/0x00007f0087654321.run", "", 100)));
    reader.callSites();
    SiteSummary summary = reader.summary().orElseThrow();

    assertThat(summary.sites())
        .containsExactly(new Share("a.B$$Lambda.run", 600), new Share("other", 0));
    assertThat(summary.libraries()).startsWith(new Share("unknown", 600));
  }

  private List<String> names() {
    return reader.summary().orElseThrow().sites().stream().map(Share::name).toList();
  }

  private static CallSite[] sites(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> site(i, 10_000 - 100 * i))
        .toArray(CallSite[]::new);
  }

  private static CallSite site(int i, double liveBytes) {
    return SitesByHand.site(i, "a.B.m%02d".formatted(i), "liba.so", liveBytes);
  }

  /** Places site {@code number} directly after site {@code behind} in the order of live bytes. */
  private static void overtake(CallSite[] sites, int number, int behind) {
    sites[number] = site(number, 10_000 - 100 * behind - 50);
  }

  private static double sumFrom(int first) {
    return IntStream.range(first, 30).map(i -> 10_000 - 100 * i).sum();
  }

  private void elapse(Duration duration) {
    nanoTime.addAndGet(duration.toNanos());
  }
}
