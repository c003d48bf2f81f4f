package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.mallometer.SilentLibrary;
import io.mallometer.SitesByHand;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.leak.evidence.DurationSketch;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SearchedObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.internal.symbol.StackFingerprint;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.LeakWorkload;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the content of verdicts, and when they change. */
@Tag("any-jdk")
class LeakDetectorTest {

  /** The number of successive evaluations that must agree before a verdict changes. */
  private static final int TO_CHANGE = 3;

  private static final int TO_CLEAR_A_LEAK = 20;
  private static final int MOST_HEALTHY = 200;

  private static final long SECOND = 1_000_000_000L;
  private static final long START = 77 * SECOND;
  private static final GarbageCollections NO_COLLECTIONS = new GarbageCollections(0, 0, 0);
  private static final double MINUTE = 60;
  private static final double HOUR = 3_600;
  private static final double EPOCH = 5;
  private static final long KIB = 1 << 10;

  /** No timeouts are assumed, so objects that are idle for five minutes can be a leak. */
  private static final MallometerOptions NO_TIMEOUTS =
      MallometerOptions.defaults().with(Setting.LEAK_LONGEST_TIMEOUT, Duration.ZERO);

  private final Map<Integer, CallSite> sites = new HashMap<>();
  private final Map<Integer, SiteUse> uses = new HashMap<>();
  private final List<SampledObject> objects = new ArrayList<>();
  private long voidEpochs;
  private double tellingEnd = Double.NaN;
  private long epochs = -1;
  private int acknowledgementsAsked;
  private String nobodyKnows = "";
  private Observation.State state = Observation.State.ON;
  private final KnownLeaks known = new KnownLeaks();
  private LeakDetector detector = new LeakDetector(NO_TIMEOUTS);

  // ---- Verdicts

  @Test
  void objectsThatNobodyTouchesAndThatKeepComingAreALeak() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);

    evaluateFor(20 * MINUTE);
    SiteVerdict verdict = settled(30 * MINUTE, 1);

    assertThat(verdict.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(verdict.grounds().evidence()).isEqualTo(LeakEvidence.OUTLASTED);
    assertThat(verdict.suspected().thresholdSeconds()).isEqualTo(300);
    assertThat(verdict.suspected().idleSeconds()).isBetween(300.0, 330.0);
    assertThat(verdict.grounds().confidence()).isBetween(0.7, 1.0);
    // 50 of the 60 objects are older than five minutes.
    assertThat(verdict.suspected().objects().value()).isBetween(49.0, 51.0);
    assertThat(verdict.suspected().bytes().value()).isBetween(49.0 * 64 * KIB, 51.0 * 64 * KIB);
    // The site allocates 64 KiB every 30 s.
    assertThat(verdict.growth().bytesPerHour()).isBetween(7.2e6, 8.6e6);
  }

  @Test
  void theSameAllMadeAtTheStartAreUnused() {
    site(1, "Tables.load");
    steadily(1, 0, 60, 2, 64 * KIB);
    SiteVerdict verdict = settled(30 * MINUTE, 1);
    assertThat(verdict.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(verdict.sentence())
        .startsWith("Tables.load holds 4.8 MiB allocated between 00:00 and 00:01 UTC: ")
        .endsWith("; no more such objects arrive")
        .doesNotContain("has not grown");
    assertThat(verdict.growth().bytesPerHour()).isZero();
    assertThat(verdict.growth().stopped()).contains(Instant.EPOCH.plusSeconds(118));
  }

  @Test
  void whatNothingTouchedSoFarIsSaidToBeUnusedAfterFourMinutes() {
    site(1, "Tables.load");
    steadily(1, 0, 60, 2, 64 * KIB);

    assertThat(settled(100, 1).verdict()).isEqualTo(Verdict.HEALTHY);
    SiteVerdict verdict = settled(4 * MINUTE, 1);

    assertThat(verdict.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(verdict.grounds().evidence()).isEqualTo(LeakEvidence.SLOTS);
    // The 60 objects were unused for three minutes on average. The probability of this would be 1 %
    // if each object were used at random times, every 39 min on average.
    assertThat(verdict.sentence())
        .isEqualTo(
            "Tables.load holds 4.8 MiB allocated between 00:00 and 00:01 UTC: 60 of 60"
                + " observed objects were not accessed since they were allocated, up to 4 min;"
                + " random"
                + " use more often than every 39 min is excluded; a timeout, scan or swap after"
                + " more than 4 min is possible");
    assertThat(verdict.grows()).isFalse();
  }

  @Test
  void ofWhatGrowsIsSaidThatItIsUsedOnlyIfThatIsSeen() {
    site(1, "Cart.zip");
    site(2, "Cache.fill");
    evaluate(10);
    for (int i = 11; i <= 110; i++) {
      object(1, i, i, 64 * KIB, 1, 1);
      object(2, i, 110, 64 * KIB, 1, 1);
    }
    LeakReport report = evaluate(110);
    assertThat(verdict(report, 1).sentence())
        .isEqualTo(
            "Cart.zip holds 4.8 MiB, of which 576 KiB were not accessed for 91 s or more; grows 3.8"
                + " MiB/min for 100 s: 100 sampled objects allocated since are live");
    assertThat(verdict(report, 2).sentence())
        .matches("Cache.fill holds 4.8 MiB, none of \\d+ observed objects unused; grows.*");
  }

  /**
   * The site stopped allocating four minutes before the evaluation. The first 60 of its 150 objects
   * are not observed. 84 of the other 90 are old enough to be idle.
   */
  @Test
  void bytesAndTimeOfWhatStoppedAreThoseOfTheSameObjects() {
    detector = new LeakDetector(MallometerOptions.defaults());
    site(1, "Tables.load");
    live(1, 37.5 * (1 << 20));
    for (int i = 0; i < 150; i++) {
      object(1, i * 10, i * 10, 256 * KIB, 1, i < 60 ? 0 : 1);
    }
    for (double second = 0; second < 29 * MINUTE; second += 15) {
      evaluate(second);
    }

    SiteVerdict verdict = verdict(evaluate(29 * MINUTE), 1);

    assertThat(verdict.sentence())
        .startsWith(
            "Tables.load holds 38 MiB allocated between 00:00 and 00:24 UTC: 84 of 84 observed"
                + " objects were not accessed since they were allocated");
    assertThat(verdict.suspected().thresholdSeconds()).isEqualTo(300);
    // The estimate also covers objects that are not observed.
    assertThat(verdict.suspected().bytes().value()).isBetween(143 * 256.0 * KIB, 145 * 256.0 * KIB);
    assertThat(verdict.suspected().objects().value()).isBetween(143.0, 145.0);
  }

  /** The use of objects from before the observation is unknown. */
  @Test
  void whatWasAllocatedBeforeObservationBeganIsNotCalledIdle() {
    site(1, "Cart.zip");
    steadily(1, -60 * MINUTE, 100, 30, 256 * KIB);
    steadily(1, 0, 60, 30, 64 * KIB);
    objects.replaceAll(
        object ->
            object.bornNanos() < START
                ? new SampledObject(1, object.bytes(), 1, 0, object.bornNanos(), 0)
                : object);

    SiteVerdict verdict = settled(30 * MINUTE, 1);

    assertThat(verdict.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(verdict.suspected().objects().value()).isBetween(49.0, 51.0);
  }

  /**
   * Searches find no address of 120 of the 128 objects, so 30 of the 32 MiB are lost. Only 6 MiB
   * have been idle long enough to be suspected.
   */
  @Test
  void allThatIsLostCountsHoweverShortItIsIdle() {
    lose(32, 128, 8);
    SiteVerdict leak = verdict(evaluate(4 * MINUTE + EPOCH), 1);

    assertThat(leak.grounds().evidence()).isEqualTo(LeakEvidence.LOST);
    assertThat(leak.sentence()).contains(": no address of 120 of 128 sampled objects exists");
    assertThat(leak.suspected().bytes().value()).isCloseTo(32.0 * (1 << 20), withinPercentage(6));
    assertThat(leak.suspected().idleSeconds()).isNaN();
    assertThat(leak.suspected().thresholdSeconds()).isNaN();
  }

  /**
   * Searches find the addresses of 32 of the 128 objects. These 32 objects have 8 of the 32 MiB.
   */
  @Test
  void whatHasAnAddressIsNotLostIfNothingSaysThatItIsIdle() {
    lose(32, 128, 32);
    SiteVerdict leak = verdict(evaluate(4 * MINUTE + EPOCH), 1);
    assertThat(leak.suspected().bytes().value()).isCloseTo(24.0 * (1 << 20), withinPercentage(8));
  }

  /**
   * Creates live objects of site 1, and searches memory for their addresses.
   *
   * @param count the number of objects
   * @param withAddress the number of objects whose address the searches find
   */
  private void lose(double mebibytes, int count, int withAddress) {
    site(1, "PrintSpool.print");
    live(1, mebibytes * (1 << 20));
    long bytes = (long) (mebibytes * (1 << 20) / count);
    for (int i = 0; i < count; i++) {
      double birth = i < 24 ? i : 200 + i / 4;
      object(1, birth, birth, bytes, 1, i < 24 ? 1 : 0);
    }
    SiteVerdict idle = settled(4 * MINUTE, 1);
    assertThat(idle.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(idle.suspected().bytes().value()).isCloseTo(24.0 * bytes, within(1.0));
    searchTwice(evaluate(4 * MINUTE), count - withAddress, withAddress);
  }

  /**
   * Searches memory twice for {@code lost} and {@code others} objects of site 1. Both searches find
   * the addresses of the {@code others}, but none of the {@code lost} objects.
   */
  private void searchTwice(LeakReport report, int lost, int others) {
    List<SearchedObject> sought = new ArrayList<>();
    for (int i = 0; i < lost + others; i++) {
      sought.add(new SearchedObject(i, 1, 256 * KIB, 1, START, i < lost ? 0 : 1, false));
    }
    NativeLibrary library =
        new SilentLibrary(Status.counting()) {
          @Override
          public String searchMemory(List<Integer> numbers, long mostBytes) {
            return "";
          }

          @Override
          public MemorySearch memorySearch() {
            return new MemorySearch(
                MemorySearch.State.DONE,
                "",
                1,
                new MemorySearch.Effort(0, 0, 0.3),
                new MemorySearch.Coverage(1 << 30, 1 << 30, 0),
                1,
                sought);
          }
        };
    for (int i = 0; i < 10; i++) {
      detector.search(library, report, NO_COLLECTIONS, 1, START + i * 30 * SECOND);
    }
  }

  @Test
  void whatIsAllocatedWithoutGrowthIsNotSaidToBeOfOneTime() {
    site(1, "Tables.load");
    steadily(1, 0, 60, 10, 64 * KIB);
    SiteVerdict verdict = null;
    for (double second = 0; second <= 12 * MINUTE; second += 15) {
      if (second >= 5 * MINUTE) {
        long before = nanos(second - 5 * MINUTE);
        objects.removeIf(object -> object.bornNanos() < before);
        object(1, second - 1, second - 1, 64 * KIB, 1, 1);
      }
      verdict = verdict(evaluate(second), 1);
      assertThat(verdict.sentence()).doesNotContain(" allocated between ");
    }
    assertThat(verdict.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(verdict.sentence()).contains("; has not grown since ");
  }

  @Test
  void ofObjectsThatWereUsedNoGapIsExcluded() {
    site(1, "Cache.fill");
    for (int i = 0; i < 60; i++) {
      object(1, i * 2, 130, 64 * KIB, 1, 1);
    }
    assertThat(settled(6 * MINUTE, 1).sentence())
        .endsWith(
            ": 60 of 60 observed objects were not accessed for up to 3 min; a timeout, scan or swap"
                + " after more than 3 min is possible; has not grown since 00:01 UTC");
  }

  @Test
  void aTimeoutThatMayStillComeKeepsObjectsFromBeingALeak() {
    detector = new LeakDetector(MallometerOptions.defaults());
    site(1, "Session.open");
    steadily(1, 0, 80, 30, 64 * KIB);
    assertThat(settled(34 * MINUTE, 1).verdict()).isEqualTo(Verdict.UNUSED);
    SiteVerdict leak = settled(38 * MINUTE, 1);
    assertThat(leak.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(leak.grounds().evidence()).isEqualTo(LeakEvidence.OUTLASTED);
    assertThat(leak.sentence())
        .contains("; the longest for 38 min, beyond any timeout of this program (30 min); +");
  }

  /**
   * Accesses are not observed for 20 s (void time). The program may have used all objects in these
   * 20 s.
   */
  @Test
  void voidTimeThatMayHideAScanDelaysTheVerdict() {
    detector = new LeakDetector(MallometerOptions.defaults());
    site(1, "Catalogue.load");
    steadily(1, 0, 140, 30, 64 * KIB);
    voidEpochs = 4;
    evaluate(20 * MINUTE);
    assertThat(settled(45 * MINUTE, 1).verdict()).isEqualTo(Verdict.UNUSED);
    // A program that uses its objects every 30 min would have used them again by minute 53.
    assertThat(settled(53 * MINUTE, 1).verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void oneVoidEpochDoesNotDelayTheVerdict() {
    detector = new LeakDetector(MallometerOptions.defaults());
    site(1, "Catalogue.load");
    steadily(1, 0, 100, 30, 64 * KIB);
    voidEpochs = 1;
    evaluate(20 * MINUTE);
    assertThat(settled(38 * MINUTE, 1).verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void aThresholdFollowsWhatTheSiteDid() {
    site(1, "Session.open");
    steadily(1, 0, 60, 30, 64 * KIB);
    uses.put(1, new SiteUse(100, 90, sketch(400, 90), sketch(390, 90), DurationSketch.NONE));

    SiteVerdict verdict = settled(30 * MINUTE, 1);

    assertThat(verdict.verdict()).isEqualTo(Verdict.HEALTHY);
    // Freed objects had been idle for 362 to 512 s, and the threshold is four times this time.
    assertThat(verdict.suspected().thresholdSeconds()).isBetween(4 * 362.0, 4 * 512.0);
  }

  @Test
  void aSiteThatHoldsNothingHasNoVerdictUnlessItWasALeak() {
    site(1, "Cart.zip");
    site(2, "Request.read");
    steadily(1, 0, 60, 30, 64 * KIB);
    settled(30 * MINUTE, 1);
    live(1, 0);
    live(2, 0);
    objects.clear();

    List<SiteVerdict> verdicts = evaluate(30 * MINUTE + 15).sites();

    assertThat(verdicts).extracting(one -> one.site().number()).containsExactly(1);
    assertThat(verdicts.get(0).verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void crumbsDoNotMatter() {
    site(1, "Small.thing");
    steadily(1, 0, 60, 30, 48);
    assertThat(settled(30 * MINUTE, 1).verdict()).isEqualTo(Verdict.HEALTHY);
  }

  @Test
  void timeInWhichNothingWasSeenIsNoIdleTime() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    evaluate(30 * MINUTE - 100);
    voidEpochs = 1_000;
    LeakReport report = evaluate(30 * MINUTE);
    // Accesses were not observed in the last 100 s, and this time does not count as idle time. An
    // object must therefore be 400 s old to have been idle for 300 s.
    assertThat(report.sites().get(0).suspected().idleSeconds()).isBetween(300.0, 331.0);
    assertThat(report.sites().get(0).suspected().objects().value()).isBetween(45.0, 48.0);
  }

  @Test
  void whileNothingIsSeenVerdictsStayAsTheyAre() {
    site(1, "Cart.zip");
    steadily(1, 0, 160, 30, 64 * KIB);
    SiteVerdict leak = settled(40 * MINUTE, 1);
    tellingEnd = 40 * MINUTE;
    for (double seconds = 40 * MINUTE; seconds <= 80 * MINUTE; seconds += 15) {
      live(1, seconds * 10_000);
      voidEpochs += 3;
      SiteVerdict still = verdict(evaluate(seconds), 1);
      assertThat(still.verdict()).isEqualTo(Verdict.LEAK);
      assertThat(withoutRate(still.sentence())).isEqualTo(withoutRate(leak.sentence()));
    }
    tellingEnd = Double.NaN;
    SiteVerdict after = verdict(evaluate(80 * MINUTE + EPOCH), 1);
    // Accesses were not observed for 40 minutes, and this time does not count as idle time.
    assertThat(after.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(after.suspected().objects().value()).isBetween(69.0, 72.0);
  }

  /**
   * Accesses are observed in only one of five periods (epochs), so it takes 25 minutes to observe
   * 300 s of idle time.
   */
  @Test
  void idleTimeIsThatInWhichSomethingIsSeenThoughMostEpochsAreVoid() {
    site(1, "Cart.zip");
    steadily(1, 0, 240, 25, 64 * KIB);
    for (double seconds = 0; seconds <= 100 * MINUTE; seconds += 3 * EPOCH) {
      tellingEnd = Math.floor(seconds / 25) * 25;
      voidEpochs = Math.round(seconds / EPOCH) - (long) (tellingEnd / 25);
      epochs = Math.round(seconds / EPOCH);
      evaluate(seconds);
    }
    SiteVerdict verdict = verdict(evaluate(100 * MINUTE), 1);
    assertThat(verdict.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(verdict.suspected().idleSeconds()).isBetween(300.0, 310.0);
    // The objects of the first 75 minutes are idle.
    assertThat(verdict.suspected().objects().value()).isBetween(178.0, 181.0);
  }

  @ParameterizedTest
  @EnumSource(LeakWorkload.class)
  void theProfileSetsTheFloor(LeakWorkload profile) {
    detector = new LeakDetector(NO_TIMEOUTS.with(Setting.LEAK_WORKLOAD, profile));
    site(1, "Cart.zip");
    steadily(1, 0, 600, 30, 64 * KIB);
    assertThat(settled(300 * MINUTE, 1).suspected().thresholdSeconds())
        .isEqualTo(profile.floor().toSeconds());
  }

  @Test
  void theTimeScaleDividesTheFloor() {
    detector = new LeakDetector(NO_TIMEOUTS.with(Setting.LEAK_TIME_SCALE, 10.0));
    site(1, "Cart.zip");
    steadily(1, 0, 60, 3, 64 * KIB);
    SiteVerdict verdict = settled(3 * MINUTE, 1);
    assertThat(verdict.suspected().thresholdSeconds()).isEqualTo(30);
    assertThat(verdict.verdict()).isEqualTo(Verdict.LEAK);
  }

  // ---- Sites without observed objects

  @Test
  void withoutObservationASiteIsAtMostGrowing() {
    state = Observation.State.OFF;
    site(1, "Cart.zip");
    for (int minute = 0; minute <= 60; minute++) {
      live(1, minute * 4e6);
      object(1, minute * 60, 0, 4_000_000, 1, 0);
      evaluate(minute * MINUTE);
    }
    live(1, 244e6);
    SiteVerdict verdict = verdict(evaluate(61 * MINUTE), 1);
    assertThat(verdict.verdict()).isEqualTo(Verdict.GROWING);
    assertThat(verdict.grounds().evidence()).isEqualTo(LeakEvidence.AGES);
    assertThat(verdict.suspected().bytes().value()).isNaN();
    assertThat(verdict.grounds().confidence()).isNaN();
    assertThat(verdict.growth().bytesPerHour()).isBetween(200e6, 280e6);
    assertThat(verdict.sentence()).contains("whether used or not is not known");
  }

  @Test
  void whereNothingIsKnownOfASitesPastItIsNeitherALeakNorAPool() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    uses.clear();
    SiteVerdict verdict = settled(30 * MINUTE, 1);
    assertThat(verdict.verdict()).isEqualTo(Verdict.HEALTHY);
    assertThat(verdict.grounds().evidence()).isEqualTo(LeakEvidence.AGES);
    assertThat(verdict.suspected().bytes().value()).isNaN();
  }

  @Test
  void ofObjectsAboveTheLargestSlotThereIsNoEvidence() {
    site(1, "Huge.map");
    for (int minute = 0; minute <= 61; minute++) {
      live(1, minute * 17e6);
      object(1, minute * 60, 0, 17 << 20, 1, 0);
      evaluate(minute * MINUTE);
    }
    SiteVerdict verdict = verdict(evaluate(62 * MINUTE), 1);
    assertThat(verdict.verdict()).isEqualTo(Verdict.GROWING);
    assertThat(verdict.grounds().evidence()).isEqualTo(LeakEvidence.NONE);
  }

  @Test
  void ofAcknowledgedSitesOnlyThoseAreAskedForThatAreInTheReport() {
    for (int number = 0; number < 3 * MOST_HEALTHY; number++) {
      site(number, "Cache.fill");
      live(number, number);
    }
    LeakReport report = evaluate(30 * MINUTE);
    assertThat(report.sites()).hasSize(MOST_HEALTHY);
    assertThat(report.sites().get(0).site().number()).isEqualTo(3 * MOST_HEALTHY - 1);
    assertThat(acknowledgementsAsked).isEqualTo(MOST_HEALTHY);
  }

  // ---- Stacks that are judged together

  @Test
  void aLeakBehindASharedWrapperIsToldFromItsOtherCallers() {
    site(1, "Wrapper.allocate");
    site(2, "Wrapper.allocate");
    steadily(1, 0, 60, 30, 64 * KIB);
    for (int i = 0; i < 60; i++) {
      object(2, i * 30, 1_780, 64 * KIB, 1, 1);
    }
    settled(30 * MINUTE, 1);
    assertThat(verdict(evaluate(30 * MINUTE), 1).verdict()).isEqualTo(Verdict.LEAK);
    assertThat(verdict(evaluate(30 * MINUTE), 2).verdict()).isEqualTo(Verdict.HEALTHY);
  }

  @Test
  void stacksOfOneNameThatEachHaveTooFewSamplesAreJudgedTogether() {
    for (int stack = 0; stack < 20; stack++) {
      site(stack, "Parser.node");
      int later = (stack + 10) % 20;
      object(stack, 20 + stack * 70, 20 + stack * 70, 64 * KIB, 1, 1);
      object(stack, 5 + later * 70, 5 + later * 70, 64 * KIB, 1, 1);
    }
    for (int i = 0; i < TO_CHANGE; i++) {
      evaluate(30 * MINUTE + i * EPOCH);
    }
    List<SiteVerdict> leaks = evaluate(30 * MINUTE + 5 * EPOCH).leaks();
    assertThat(leaks).hasSize(1);
    assertThat(leaks.get(0).site().stacks()).isEqualTo(20);
    assertThat(leaks.get(0).site().name()).isEqualTo("Parser.node");
  }

  @Test
  void fourIdleObjectsOfTwoStacksAreTooFew() {
    fewOfEach(2, 2);
    settled(30 * MINUTE, 1);
    assertThat(evaluate(30 * MINUTE + EPOCH).sites())
        .hasSize(2)
        .extracting(SiteVerdict::verdict)
        .containsOnly(Verdict.HEALTHY);
  }

  @Test
  void sitesThatLeakTogetherStayTogetherWhenOneObjectIsFreed() {
    fewOfEach(5, 3);
    assertThat(settled(30 * MINUTE, 0).verdict()).isEqualTo(Verdict.LEAK);
    objects.remove(3);
    for (int i = 1; i <= 2 * TO_CLEAR_A_LEAK; i++) {
      List<SiteVerdict> leaks = evaluate(30 * MINUTE + i * EPOCH).leaks();
      assertThat(leaks).extracting(one -> one.site().stacks()).containsExactly(5);
    }
    objects.clear();
    for (int i = 1; i < TO_CLEAR_A_LEAK; i++) {
      assertThat(evaluate(40 * MINUTE + i * EPOCH).leaks()).hasSize(1);
    }
    assertThat(evaluate(45 * MINUTE).sites())
        .extracting(SiteVerdict::verdict)
        .containsOnly(Verdict.HEALTHY);
  }

  @Test
  void aSiteThatBecomesALeakByItselfLeavesItsGroupAsOne() {
    fewOfEach(5, 3);
    assertThat(settled(30 * MINUTE, 0).verdict()).isEqualTo(Verdict.LEAK);
    steadily(3, 0, 60, 30, 64 * KIB);
    List<SiteVerdict> leaks = evaluate(30 * MINUTE + EPOCH).leaks();
    assertThat(leaks).extracting(one -> one.site().stacks()).containsExactly(5);
    assertThat(leaks).extracting(one -> one.site().number()).containsExactly(3);
  }

  @Test
  void stacksWithoutAnObservedObjectDoNotCountAsIdle() {
    twoStacksOfAParser();
    site(3, "Parser.node");
    for (int i = 0; i < 60; i++) {
      object(3, i * 30, i * 30, 256 * KIB, 1, 0);
    }
    SiteVerdict leak = settled(30 * MINUTE, 1);

    assertThat(leak.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(leak.site().stacks()).isEqualTo(2);
    assertThat(leak.suspected().objects().value()).isEqualTo(8);
  }

  /** No observed object of the third stack is old enough to be idle. */
  @Test
  void stacksWithoutAnObjectThatCouldBeIdleDoNotCountAsIdle() {
    twoStacksOfAParser();
    site(3, "Parser.node");
    for (int i = 0; i < 60; i++) {
      object(3, i * 30, i * 30, 256 * KIB, 1, i < 58 ? 0 : 1);
    }
    assertThat(settled(30 * MINUTE, 1).suspected().objects().value()).isEqualTo(8);
  }

  private void twoStacksOfAParser() {
    for (int i = 0; i < 8; i++) {
      site(1 + i % 2, "Parser.node");
      object(1 + i % 2, i * 200, i * 200, 256 * KIB, 1, 1);
    }
  }

  /** A single stack has too few objects for a verdict. */
  @Test
  void cachesOfOneNameThatAreFilledOneAfterTheOtherAreNeitherALeakNorUnused() {
    for (int stack = 0; stack < 12; stack++) {
      site(stack, "Models.load");
      steadily(stack, 20 + stack * 200, 4, 10, 512 * KIB);
    }
    for (double second = 15; second <= 60 * MINUTE; second += 15) {
      assertThat(evaluate(second).sites())
          .extracting(SiteVerdict::verdict)
          .doesNotContain(Verdict.LEAK, Verdict.UNUSED);
    }
  }

  @Test
  void aLargeUnusedPartIsToldBesideASmallLostOne() {
    lose(32, 128, 8);
    site(2, "PrintSpool.print");
    live(2, 200 * (1 << 20));
    steadily(2, 0, 24, 1, 8 << 20);
    evaluate(4 * MINUTE + EPOCH);

    assertThat(evaluate(4 * MINUTE + 2 * EPOCH).suspicious())
        .extracting(
            one -> one.site().number(), SiteVerdict::verdict, one -> one.grounds().evidence())
        .containsExactlyInAnyOrder(
            tuple(1, Verdict.LEAK, LeakEvidence.LOST),
            tuple(2, Verdict.UNUSED, LeakEvidence.SLOTS));
    assertThat(evaluate(4 * MINUTE + 3 * EPOCH).suspicious())
        .extracting(one -> Math.round(one.suspected().bytes().value() / (1 << 20)))
        .containsExactlyInAnyOrder(30L, 192L);
  }

  @Test
  void aSmallUnusedPartIsOneWithTheLostOne() {
    lose(32, 128, 8);
    site(2, "PrintSpool.print");
    steadily(2, 0, 24, 1, 64 * KIB);
    evaluate(4 * MINUTE + EPOCH);

    SiteVerdict leak = verdict(evaluate(4 * MINUTE + 2 * EPOCH), 2);
    assertThat(leak.grounds().evidence()).isEqualTo(LeakEvidence.LOST);
    assertThat(leak.site().number()).isEqualTo(1);
    assertThat(leak.suspected().bytes().value()).isCloseTo(33.5 * (1 << 20), withinPercentage(6));
  }

  @Test
  void whatIsLostIsToldBesideALargerPartThatOutlastedTheLongestTimeout() {
    lose(32, 128, 8);
    site(2, "PrintSpool.print");
    live(2, 200 * (1 << 20));
    steadily(2, 0, 60, 30, 4 << 20);
    settled(30 * MINUTE, 1);

    assertThat(evaluate(30 * MINUTE + EPOCH).leaks())
        .extracting(one -> one.site().number(), one -> one.grounds().evidence())
        .containsExactlyInAnyOrder(tuple(1, LeakEvidence.LOST), tuple(2, LeakEvidence.OUTLASTED));
  }

  /** A single stack has less than 1 MiB of idle objects. */
  @Test
  void whatAStackLosesIsToldIfAllStacksTogetherAreUnused() {
    detector = new LeakDetector(MallometerOptions.defaults());
    fewOfEach(5, 3);
    SiteVerdict unused = settled(30 * MINUTE, 1);
    assertThat(unused.verdict()).isEqualTo(Verdict.UNUSED);
    searchTwice(evaluate(30 * MINUTE), 10, 0);

    for (int i = 1; i <= TO_CLEAR_A_LEAK + 2; i++) {
      SiteVerdict leak = verdict(evaluate(30 * MINUTE + i * EPOCH), 1);
      assertThat(leak.grounds().evidence()).isEqualTo(LeakEvidence.LOST);
      assertThat(leak.site().number()).isEqualTo(1);
    }
  }

  /** The first stack has lost 400 KiB. The second grows, and its objects are used. */
  @Test
  void whatAStackLosesIsNotToldBelowAMebibyteThoughItsNameGrows() {
    site(1, "Parser.node");
    live(1, 10 * 40 * KIB);
    steadily(1, 0, 10, 10, 40 * KIB);
    site(2, "Parser.node");
    // Memory is searched only if there is a suspect, here the third site.
    site(3, "Tables.load");
    steadily(3, 0, 60, 1, 64 * KIB);
    for (double second = 15; second <= 5 * MINUTE; second += 15) {
      steadily(2, second - 15, 5, 3, 64 * KIB);
      useAll(object -> object.site() == 2, second);
      evaluate(second);
    }
    LeakReport report = evaluate(5 * MINUTE + EPOCH);
    assertThat(verdict(report, 2).verdict()).isEqualTo(Verdict.GROWING);
    searchTwice(report, 10, 0);

    assertThat(verdict(evaluate(5 * MINUTE + 2 * EPOCH), 1).verdict()).isNotEqualTo(Verdict.LEAK);
    live(1, 2 << 20);
    assertThat(verdict(evaluate(5 * MINUTE + 3 * EPOCH), 1).verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void aStackWhoseObjectsAreUsedIsNotShownAsOneThatLeaks() {
    twoStacksOfAParser();
    site(3, "Parser.node");
    live(3, 900 * (1 << 20));
    for (int i = 0; i < 10; i++) {
      object(3, i * 30, 1_795, 64 * KIB, 1, 1);
    }
    SiteVerdict leak = settled(30 * MINUTE, 1);

    assertThat(leak.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(leak.site().others()).extracting(SiteVerdict.Stack::number).doesNotContain(3);
    assertThat(leak.site().number()).isNotEqualTo(3);
    assertThat(leak.growth().liveBytes()).isEqualTo(2 * 5e6);
  }

  @Test
  void aLeakOfSeveralStacksStaysOneWhenAStackJoinsOrHoldsNothingMore() {
    fewOfEach(5, 3);
    SiteVerdict leak = settled(30 * MINUTE, 0);
    assertThat(leak.verdict()).isEqualTo(Verdict.LEAK);
    site(6, "Parser.node");
    objects.removeIf(object -> object.site() == 4);
    live(4, 0);
    for (int i = 1; i <= TO_CLEAR_A_LEAK + 5; i++) {
      double second = 30 * MINUTE + i * EPOCH;
      object(6, second - 1, second - 1, 64 * KIB, 1, 1);
      SiteVerdict still = verdict(evaluate(second), 0);
      assertThat(still.verdict()).isEqualTo(Verdict.LEAK);
      assertThat(still.since()).isEqualTo(leak.since());
    }
  }

  @Test
  void ofASiteOfWhichSomeObjectsAreReadTheUnusedPartHasOneVerdict() {
    site(1, "Store.keep");
    steadily(1, 0, 60, 1, 64 * KIB);
    List<SampledObject> idle = List.copyOf(objects);
    readAllBut(40, idle, 3 * MINUTE);
    SiteVerdict first = settled(4 * MINUTE, 1);
    assertThat(first.verdict()).isEqualTo(Verdict.UNUSED);
    for (int i = 1; i <= 20; i++) {
      double second = 4 * MINUTE + i * EPOCH;
      readAllBut(i % 2 == 0 ? 28 : 32, idle, second);
      SiteVerdict unused = verdict(evaluate(second), 1);
      assertThat(unused.verdict()).isEqualTo(Verdict.UNUSED);
      assertThat(unused.since()).isEqualTo(first.since());
      assertThat(unused.suspected().objects().value()).isBetween(27.0, 33.0);
    }
    readAllBut(10, idle, 6 * MINUTE);
    assertThat(settled(6 * MINUTE + EPOCH, 1).verdict()).isEqualTo(Verdict.HEALTHY);
  }

  private void readAllBut(int count, List<SampledObject> idle, double second) {
    objects.clear();
    for (int i = 0; i < idle.size(); i++) {
      double birth = (idle.get(i).bornNanos() - START) / 1e9;
      object(1, birth, i < count ? birth : second, 64 * KIB, 1, 1);
    }
  }

  /**
   * Stacks 0 and 1 leak together. At minute 41.5 the objects of stack 1 are freed, and from minute
   * 50 on stack 0 is a leak by itself. Stacks 2 and 3 are caches with young objects.
   */
  @Test
  void cachesOfTheNameOfALeakThatLeavesThemAreOnlyUnused() {
    detector = new LeakDetector(MallometerOptions.defaults());
    for (int stack = 0; stack < 4; stack++) {
      site(stack, "Parser.node");
      live(stack, 140e6);
    }
    for (double birth = 10; birth < HOUR; birth += birth < 2_000 ? 450 : 100) {
      object(0, birth, birth, 512 * KIB, 1, 1);
    }
    steadily(1, 30, 6, 450, 512 * KIB);
    steadily(2, 33 * MINUTE, 54, 30, 512 * KIB);
    steadily(3, 33 * MINUTE, 54, 30, 512 * KIB);
    for (double second = 15; second < HOUR; second += 15) {
      if (second == 41.5 * MINUTE) {
        objects.removeIf(object -> object.site() == 1);
      }
      LeakReport report = evaluate(second);
      // The leak has more bytes than the caches up to minute 46, so one verdict covers the leak and
      // the caches.
      if (second > 46 * MINUTE) {
        assertThat(verdict(report, 2).verdict()).isEqualTo(Verdict.UNUSED);
        assertThat(verdict(report, 3).verdict()).isEqualTo(Verdict.UNUSED);
      }
    }
    assertThat(verdict(evaluate(HOUR), 0).verdict()).isEqualTo(Verdict.LEAK);
    SiteVerdict caches = verdict(evaluate(HOUR + EPOCH), 2);
    assertThat(caches.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(caches.suspected().bytes().value()).isGreaterThan(40.0 * (1 << 20));
  }

  /**
   * Stacks 3 and 4 also have unused objects, but these are younger than {@code
   * leak.longest-timeout}.
   */
  @Test
  void aLeakHasOnlyTheStacksWhoseObjectsOutlastedTheLongestTimeout() {
    detector = new LeakDetector(MallometerOptions.defaults());
    for (int i = 0; i < 8; i++) {
      site(1 + i % 2, "Parser.node");
      object(1 + i % 2, i * 340, i * 340, 256 * KIB, 1, 1);
    }
    site(3, "Parser.node");
    steadily(3, 25 * MINUTE, 4, 170, 256 * KIB);
    site(4, "Parser.node");
    steadily(4, 45 * MINUTE - 150, 60, 1, 512 * KIB);
    settled(45 * MINUTE, 1);

    SiteVerdict leak = evaluate(45 * MINUTE + EPOCH).leaks().get(0);
    assertThat(leak.site().number()).isEqualTo(1);
    assertThat(leak.site().others()).extracting(SiteVerdict.Stack::number).containsExactly(2);
    assertThat(leak.suspected().objects().value()).isEqualTo(8);
  }

  /**
   * The verdict is not {@code LEAK}, because the objects that were idle for longer than {@code
   * leak.longest-timeout} are smaller than 1 MiB in total.
   */
  @Test
  void whatOutlastedTheLongestTimeoutNeedsAMebibyte() {
    detector = new LeakDetector(MallometerOptions.defaults());
    for (int i = 0; i < 24; i++) {
      site(1 + i % 2, "Parser.node");
      object(1 + i % 2, i * 110, i * 110, 16 * KIB, 1, 1);
    }
    site(3, "Parser.node");
    steadily(3, 20 * MINUTE, 8, 100, 512 * KIB);
    assertThat(settled(45 * MINUTE, 1).verdict()).isEqualTo(Verdict.UNUSED);
  }

  /** Stack 0 leaks 12 MiB a minute. The others are a pool, whose objects live for two minutes. */
  @Test
  void stacksThatDoNotGrowAreNotGrowingBecauseALeakOfTheirNameDoes() {
    detector = new LeakDetector(MallometerOptions.defaults());
    boolean leaks = false;
    for (double now = 15; now <= 45 * MINUTE; now += 15) {
      leak(now);
      LeakReport report = evaluate(now);
      leaks = verdict(report, 0).verdict() == Verdict.LEAK;
      assertThat(!leaks || verdict(report, 0).site().stacks() == 1).isTrue();
    }
    assertThat(leaks).isTrue();
  }

  private void leak(double now) {
    objects.clear();
    site(0, "Deflater.init");
    steadily(0, 10, (int) (now / 5) - 2, 5, 1024 * KIB);
    live(0, 1024.0 * KIB * now / 5);
    for (int stack = 1; stack <= 5; stack++) {
      site(stack, "Deflater.init");
      for (double birth = 10 + stack; birth <= now; birth += 20) {
        if (now - birth < 120) {
          object(stack, birth, Math.max(birth, now - 1), 64 * KIB, 1, 1);
        }
      }
      live(stack, 6 * 64 * KIB);
      int freed = (int) (now / 20);
      uses.put(
          stack, new SiteUse(999, 9, sketch(120, freed), sketch(2, freed), DurationSketch.NONE));
    }
  }

  /**
   * Six other stacks of {@code Parser.node} hold no live objects. Each of them has freed 20 objects
   * that had been idle for 25 minutes, so the idle objects of the first five stacks are no leak.
   */
  @Test
  void whatStacksThatHoldNothingFreedCountsBeforeALeakAsAfterIt() {
    fewOfEach(5, 3);
    for (int stack = 10; stack < 16; stack++) {
      site(stack, "Parser.node");
      live(stack, 0);
      uses.put(
          stack, new SiteUse(20, 20, sketch(1_500, 20), sketch(1_500, 20), DurationSketch.NONE));
    }
    for (double second = 1_500; second <= HOUR; second += 15) {
      assertThat(verdict(evaluate(second), 0).verdict()).isNotEqualTo(Verdict.LEAK);
    }
  }

  /** Stacks 0 to 19 each have too few objects to be {@code GROWING} alone. Stack 30 is unused. */
  @Test
  void whatGrowsTogetherIsToldBesideAStackThatIsUnused() {
    site(30, "Parser.node");
    steadily(30, 0, 20, 1, 256 * KIB);
    for (int stack = 0; stack < 20; stack++) {
      site(stack, "Parser.node");
    }
    for (double second = 15; second <= 8 * MINUTE; second += 15) {
      for (int i = 0; i < 6; i++) {
        object((6 * (int) second / 15 + i) % 20, second - 1 - i, second, 64 * KIB, 1, 1);
      }
      for (int stack = 0; stack < 20; stack++) {
        live(stack, second * 26_214 / 20);
      }
      useAll(object -> object.site() < 20, second);
      evaluate(second);
    }
    SiteVerdict unused = verdict(evaluate(8 * MINUTE + EPOCH), 30);
    assertThat(unused.verdict()).isEqualTo(Verdict.UNUSED);
    assertThat(unused.site().stacks()).isEqualTo(21);
    assertThat(unused.sentence()).contains(": 20 of ");
    assertThat(unused.suspected().objects().value()).isEqualTo(20);
  }

  @Test
  void theObservedObjectsOfAStackThatGrowsBesideAnUnusedOneCountOnce() {
    site(1, "Parser.node");
    steadily(1, 0, 60, 1, 64 * KIB);
    site(2, "Parser.node");
    for (double second = 15; second <= 4 * MINUTE; second += 15) {
      steadily(2, second - 14, 3, 5, 256 * KIB);
      useAll(object -> object.site() == 2, second);
      evaluate(second);
    }
    SiteVerdict unused = verdict(evaluate(4 * MINUTE + EPOCH), 1);
    assertThat(unused.site().stacks()).isEqualTo(2);
    // Objects count here if they are older than 105 s: 90 s plus three epochs of 5 s. 28 of the 88
    // objects that count belong to the growing stack.
    assertThat(unused.sentence()).contains(": 60 of 88 observed objects");
  }

  @Test
  void unusedMemoryOfSeveralStacksStaysUnusedWhenNoMoreComes() {
    detector = new LeakDetector(MallometerOptions.defaults());
    for (int i = 0; i < 20; i++) {
      site(i % 5, "Deflater.init");
      object(i % 5, 20 + i * 60, 20 + i * 60, 512 * KIB, 1, 1);
    }
    for (double second = 15; second <= 70 * MINUTE; second += 15) {
      SiteVerdict verdict = verdict(evaluate(second), 0);
      if (second > 10 * MINUTE) {
        assertThat(verdict.verdict()).isEqualTo(Verdict.UNUSED);
      }
    }
    assertThat(verdict(evaluate(71 * MINUTE), 0).sentence()).contains("20 of 20 observed objects");
  }

  /** A single leak has several stacks because of inlining and different native offsets. */
  @Test
  void stacksOfOneNameAreOneSuspect() {
    for (int number = 1; number <= 3; number++) {
      site(number, "Cart.zip");
      steadily(number, 0, 60, 30, 64 * KIB);
    }
    site(4, "Report.render");
    steadily(4, 0, 60, 30, 64 * KIB);

    settled(30 * MINUTE, 1);
    List<SiteVerdict> leaks = evaluate(30 * MINUTE + EPOCH).leaks();

    assertThat(leaks).extracting(leak -> leak.site().stacks()).containsExactly(3, 1);
    SiteVerdict cart = leaks.get(0);
    SiteVerdict report = leaks.get(1);
    assertThat(cart.site().others()).extracting(SiteVerdict.Stack::number).containsExactly(2, 3);
    assertThat(cart.suspected().bytes().value())
        .isCloseTo(3 * report.suspected().bytes().value(), within(1.0));
    assertThat(cart.growth().liveBytes()).isCloseTo(3 * report.growth().liveBytes(), within(1.0));
    assertThat(cart.sentence()).startsWith("Cart.zip keeps 9.6 MiB in 150 objects");
  }

  /** The suspect has 14 stacks. A verdict shows at most ten of them. */
  @Test
  void ofASuspectAllStacksAreSearchedFor() {
    for (int number = 1; number <= 14; number++) {
      site(number, "Cart.zip");
      steadily(number, 0, 60, 10, 64 * KIB);
    }
    settled(20 * MINUTE, 1);
    LeakReport report = evaluate(20 * MINUTE + EPOCH);
    assertThat(report.suspicious()).extracting(one -> one.site().stacks()).containsExactly(14);
    List<Integer> sought = new ArrayList<>();
    detector.search(
        new SilentLibrary(Status.counting()) {
          @Override
          public String searchMemory(List<Integer> numbers, long mostBytes) {
            sought.addAll(numbers);
            return "not searched";
          }
        },
        report,
        NO_COLLECTIONS,
        1,
        START);
    assertThat(sought).hasSize(14).doesNotHaveDuplicates();
  }

  @Test
  void whatGrowsComesBeforeWhatHasStopped() {
    site(1, "Cart.zip");
    steadily(1, 0, 80, 30, 640 * KIB);
    site(2, "Report.render");
    steadily(2, 0, 120, 30, 64 * KIB);
    for (double seconds = 0; seconds < 50 * MINUTE; seconds += 15) {
      evaluate(seconds);
    }
    List<SiteVerdict> suspects = evaluate(50 * MINUTE).suspicious();

    assertThat(suspects)
        .extracting(one -> one.site().name(), SiteVerdict::grows)
        .containsExactly(tuple("Report.render", true), tuple("Cart.zip", false));
    assertThat(suspects.get(0).growth().bytesPerHour()).isBetween(7.2e6, 8.6e6);
    assertThat(suspects.get(0).growth().stopped()).isEmpty();
    assertThat(suspects.get(1).sentence()).contains("; has not grown since 00:39 UTC");
  }

  @Test
  void aSiteThatLeaksStaysOutOfGroupsUntilItIsNoLeak() {
    fewOfEach(8, 2);
    site(9, "Parser.node");
    steadily(9, 0, 7, 210, 256 * KIB);
    assertThat(settled(30 * MINUTE, 9).verdict()).isEqualTo(Verdict.LEAK);
    objects.removeIf(object -> object.site() == 9 && object.bornNanos() > nanos(700));
    for (int i = 1; i < TO_CLEAR_A_LEAK; i++) {
      SiteVerdict still = verdict(evaluate(30 * MINUTE + i * EPOCH), 9);
      assertThat(still.verdict()).isEqualTo(Verdict.LEAK);
    }
  }

  /**
   * A new stack begins to allocate each minute, and its objects live for an hour. The stacks with
   * live objects at the end have freed nothing so far. Only all stacks together show that objects
   * are freed.
   */
  @Test
  void stacksOfOneNameThatTakeTurnsAreAPoolAndDoNotGrow() {
    for (int minute = 0; minute < 150; minute++) {
      double now = minute * MINUTE;
      int gone = minute - 60;
      site(minute, "Parser.node");
      uses.put(minute, comingBack());
      steadily(minute, now - 20, 2, 10, 2 << 20);
      if (gone >= 0) {
        live(gone, 0);
        objects.removeIf(object -> object.site() == gone);
      }
      evaluate(now);
    }
    assertThat(evaluate(150 * MINUTE).sites())
        .filteredOn(site -> site.site().stacks() > 1)
        .extracting(SiteVerdict::verdict)
        .containsExactly(Verdict.POOL);
  }

  /** Spreads idle objects of different ages over several stacks of one site. */
  private void fewOfEach(int stacks, int count) {
    for (int i = 0; i < stacks * count; i++) {
      site(i % stacks, "Parser.node");
      double birth = 20 + i * 1_400.0 / (stacks * count);
      object(i % stacks, birth, birth, 256 * KIB, 1, 1);
    }
  }

  // ---- Hysteresis

  /** The nine evaluations read the first two epochs four times each, and then a third one. */
  @Test
  void aVerdictNeedsThreeEpochsThatAgreeHoweverOftenEachIsRead() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    for (int reading = 0; reading < 9; reading++) {
      tellingEnd = 30 * MINUTE + reading / 4 * 60;
      assertThat(verdict(evaluate(30 * MINUTE + reading * 15), 1).verdict())
          .isEqualTo(reading < 8 ? Verdict.HEALTHY : Verdict.LEAK);
    }
  }

  @Test
  void aLeakIsTakenBackAfterTwentyAndShowsWhatItWasUntilThen() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    SiteVerdict leak = settled(30 * MINUTE, 1);
    objects.clear();
    for (int i = 1; i < TO_CLEAR_A_LEAK; i++) {
      SiteVerdict still = verdict(evaluate(30 * MINUTE + i * 15), 1);
      assertThat(still.verdict()).isEqualTo(Verdict.LEAK);
      assertThat(still.sentence()).isEqualTo(leak.sentence());
      assertThat(still.since()).isEqualTo(leak.since());
    }
    assertThat(verdict(evaluate(36 * MINUTE), 1).verdict()).isEqualTo(Verdict.HEALTHY);
  }

  /** The library has no evidence of the site from minute 31 on. */
  @Test
  void aLeakThatCannotBeSeenAnyMoreShowsWhatMadeItOne() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    SiteVerdict leak = settled(30 * MINUTE, 1);
    uses.clear();
    SiteVerdict still = verdict(evaluate(31 * MINUTE), 1);
    assertThat(still.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(still.sentence()).isEqualTo(leak.sentence());
  }

  @Test
  void whatWouldNotConvictDoesNotAcquit() {
    site(1, "Cart.zip");
    steadily(1, 0, 3, 200, 256 * KIB);
    steadily(1, 550, 9, 50, 256 * KIB);
    steadily(1, 1_400, 2, 90, 256 * KIB);
    assertThat(settled(30 * MINUTE, 1).verdict()).isEqualTo(Verdict.LEAK);
    // The objects that remain include one from the last third of the time since the first
    // allocation. A new suspect needs two (FEWEST_IN_LAST_THIRD) to be a leak, but an existing leak
    // remains a leak.
    objects.removeIf(object -> object.bornNanos() == nanos(1_400));
    for (int i = 1; i <= TO_CLEAR_A_LEAK + 1; i++) {
      assertThat(verdict(evaluate(30 * MINUTE + i * EPOCH), 1).verdict()).isEqualTo(Verdict.LEAK);
    }
  }

  @Test
  void whatSpeaksAgainstALeakCountsWhateverItIsInstead() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    settled(30 * MINUTE, 1);
    List<SampledObject> idle = List.copyOf(objects);
    for (int i = 1; i <= TO_CLEAR_A_LEAK; i++) {
      double seconds = 30 * MINUTE + i * 15;
      objects.clear();
      // The evaluations alternate: the site has no objects in one, and objects that are used in the
      // next.
      objects.addAll(i % 2 == 0 ? List.of() : idle);
      uses.put(1, i % 2 == 0 ? SiteUse.NONE : comingBack());
      Verdict verdict = verdict(evaluate(seconds), 1).verdict();
      assertThat(verdict == Verdict.LEAK).isEqualTo(i < TO_CLEAR_A_LEAK);
    }
  }

  // ---- States between evaluations

  @Test
  void whatWasNeverAnythingElseIsHealthySinceTheFirstEvaluation() {
    evaluate(MINUTE);
    site(1, "Cache.fill");
    assertThat(verdict(evaluate(2 * MINUTE), 1).since()).isEqualTo(Instant.EPOCH.plusSeconds(60));
  }

  @Test
  void whatWasSomethingElseIsHealthySinceThenAlsoWhenItHoldsNothingForAWhile() {
    site(1, "Cart.zip");
    steadily(1, 0, 60, 30, 64 * KIB);
    settled(30 * MINUTE, 1);
    objects.clear();
    for (int i = 1; i <= TO_CLEAR_A_LEAK; i++) {
      evaluate(30 * MINUTE + i * 15);
    }
    live(1, 0);
    assertThat(evaluate(36 * MINUTE).sites()).isEmpty();
    live(1, 5e6);
    assertThat(verdict(evaluate(37 * MINUTE), 1).since())
        .isEqualTo(Instant.EPOCH.plusSeconds(35 * 60));
  }

  @Test
  void whatLeavesAGroupThatWasALeakIsHealthySinceThen() {
    fewOfEach(5, 3);
    settled(30 * MINUTE, 0);
    objects.clear();
    for (int i = 1; i <= TO_CLEAR_A_LEAK; i++) {
      evaluate(30 * MINUTE + i * 15);
    }
    assertThat(evaluate(36 * MINUTE).sites())
        .hasSize(5)
        .extracting(SiteVerdict::since)
        .containsOnly(Instant.EPOCH.plusSeconds(35 * 60));
  }

  /**
   * The latest assessment finds a leak. The verdict is still healthy, but the site shows the
   * figures of that assessment.
   */
  @Test
  void ofAHealthySiteTheLatestAssessmentIsShownAlsoWhileItSpeaksForAnotherVerdict() {
    site(1, "Cart.zip");
    evaluate(30 * MINUTE - EPOCH);
    steadily(1, 0, 60, 30, 64 * KIB);
    SiteVerdict verdict = verdict(evaluate(30 * MINUTE), 1);
    assertThat(verdict.verdict()).isEqualTo(Verdict.HEALTHY);
    assertThat(verdict.suspected().objects().value()).isBetween(49.0, 51.0);
  }

  // ---- Failures

  @Test
  void aSiteThatCannotBeJudgedKeepsItsVerdictAndCostsNoOtherItsOwn() {
    for (int number = 1; number <= 2; number++) {
      site(number, "Cart.zip" + number);
      steadily(number, 0, 160, 30, 64 * KIB);
    }
    SiteVerdict leak = settled(30 * MINUTE, 1);
    assertThat(detector.failure()).isEmpty();

    uses.put(1, unreadable());
    objects.removeIf(object -> object.site() == 2);
    site(3, "Cache.fill");
    for (int i = 1; i <= TO_CLEAR_A_LEAK; i++) {
      evaluate(30 * MINUTE + i * 15);
    }
    LeakReport report = evaluate(36 * MINUTE);
    assertThat(verdict(report, 1).verdict()).isEqualTo(leak.verdict());
    assertThat(verdict(report, 1).since()).isEqualTo(leak.since());
    assertThat(verdict(report, 1).suspected()).isEqualTo(leak.suspected());
    assertThat(verdict(report, 2).verdict()).isEqualTo(Verdict.HEALTHY);
    assertThat(verdict(report, 3).verdict()).isEqualTo(Verdict.HEALTHY);
    assertThat(detector.failure()).containsInstanceOf(NullPointerException.class);

    uses.put(1, SiteUse.NONE);
    evaluate(37 * MINUTE);
    assertThat(detector.failure()).isEmpty();
  }

  @Test
  void sitesThatCannotBeJudgedTogetherStayALeak() {
    fewOfEach(5, 3);
    assertThat(settled(30 * MINUTE, 0).verdict()).isEqualTo(Verdict.LEAK);
    uses.put(3, unreadable());
    assertThat(evaluate(31 * MINUTE).leaks())
        .extracting(one -> one.site().stacks())
        .containsExactly(5);
  }

  @Test
  void aVerdictThatCannotBeToldStaysAsItWasTold() {
    site(1, "Cart.zip");
    site(2, "Cache.fill");
    steadily(1, 0, 160, 30, 64 * KIB);
    SiteVerdict leak = settled(30 * MINUTE, 1);
    nobodyKnows = "Cart.zip";
    LeakReport report = evaluate(31 * MINUTE);
    assertThat(verdict(report, 1)).isEqualTo(leak);
    assertThat(verdict(report, 2).verdict()).isEqualTo(Verdict.HEALTHY);
    assertThat(detector.failure()).isPresent();
  }

  private static SiteUse unreadable() {
    return new SiteUse(1, 0, null, null, null);
  }

  // ---- The sentence of a verdict

  @Test
  void theSentenceSaysWhatWhoHowMuchAndHowFast() {
    uses.put(1, SiteUse.NONE);
    sites.put(
        1,
        site(
            1,
            "com.shop.ReportService.render",
            StackFrame.ofLibrary("libzip.so", "deflateInit2_", 31),
            StackFrame.ofJava("java.util.zip.Deflater", "init", "Deflater.java", 1),
            StackFrame.ofJava("com.shop.ReportService", "render", "ReportService.java", 2)));
    for (int i = 0; i < 60; i++) {
      object(1, i * 30, i * 30, 30_000, 0.01, 1);
    }
    evaluateFor(20 * MINUTE);
    SiteVerdict verdict = settled(30 * MINUTE, 1);
    assertThat(verdict.sentence())
        .matches(
            "Deflater\\.init from ReportService\\.render keeps 14\\d MiB in 5,\\d00 objects that"
                + " were not accessed for 5 min or more; the longest for 30 min; \\+[56]\\.\\d"
                + " MiB/min; a garbage collection may free it, and none came since it was allocated");
  }

  @Test
  void theSentenceSaysWhyIdleObjectsAreNoLeak() {
    site(1, "Tables.load");
    steadily(1, 0, 60, 2, 64 * KIB);
    site(2, "Store.keep");
    steadily(2, 0, 120, 15, 64 * KIB);
    uses.put(2, comingBack());
    // Objects are idle at minute 30 if they were allocated in the first 25 min. The third site
    // allocated only one object in the last third of these 25 min.
    site(3, "Plugin.open");
    steadily(3, 0, 10, 100, 128 * KIB);
    object(3, 1_450, 1_450, 128 * KIB, 1, 1);
    settled(30 * MINUTE, 1);
    LeakReport report = evaluate(30 * MINUTE + EPOCH);
    assertThat(report.sites())
        .extracting(
            site -> site.verdict(),
            site -> site.sentence().substring(site.sentence().lastIndexOf(';')))
        .containsExactlyInAnyOrder(
            tuple(Verdict.UNUSED, "; no more such objects arrive"),
            tuple(Verdict.POOL, "; some such objects were used or freed later"),
            tuple(Verdict.UNUSED, "; too few objects have arrived to call it a leak"));
  }

  // ---- Estimates

  /** The program uses a tenth of the objects shortly before the evaluation. Samples are random. */
  @Test
  void theIntervalHoldsTheTruthIn94Of100Cases() {
    java.util.Random random = new java.util.Random(11);
    int covered = 0;
    int told = 0;
    for (int run = 0; run < 300; run++) {
      objects.clear();
      double truth = 0;
      for (int i = 0; i < 3_000; i++) {
        double birth = random.nextDouble() * 1_800;
        long bytes = 1_000 + random.nextInt(60_000);
        boolean used = random.nextDouble() < 0.1;
        double last = used ? 1_790 : birth;
        truth += 1_800 - last > 300 ? bytes : 0;
        if (random.nextDouble() < 0.05) {
          object(1, birth, last, bytes, 0.05, random.nextDouble() < 0.4 ? 0.4 : 0);
        }
      }
      site(1, "Cart.zip");
      Assessment judged = judgement();
      if (judged.idle().count() >= 5) {
        told++;
        covered +=
            judged.suspected().bytes().low() <= truth && truth <= judged.suspected().bytes().high()
                ? 1
                : 0;
      }
    }
    System.out.printf("suspected bytes: %d of %d intervals hold the truth%n", covered, told);
    assertThat(told).isEqualTo(300);
    assertThat(covered / (double) told).isGreaterThanOrEqualTo(0.94);
  }

  private Assessment judgement() {
    Observation observation = observation(1_800);
    return LeakTest.judge(
        objects,
        SiteUse.NONE,
        ObservationWindow.of(observation, new IdleLimits(300, 0, 1), VoidTime.NONE));
  }

  // ---- Leaks of earlier runs

  @Test
  void aStackThatLeakedInAnEarlierRunIsALeakWhenItIsUnusedForFiveMinutesAgain() {
    site(1, "Cart.zip");
    site(2, "Other.zip");
    knowFromAnEarlierRun(1);
    assertThat(verdict(growing(0, 285, 1, 2), 1).verdict()).isEqualTo(Verdict.UNUSED);
    LeakReport report = growing(285, 360, 1, 2);
    SiteVerdict verdict = verdict(report, 1);

    assertThat(verdict.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(verdict.grounds().evidence()).isEqualTo(LeakEvidence.KNOWN);
    assertThat(verdict.grounds().confidence()).isNaN();
    assertThat(verdict.sentence())
        .startsWith(
            "Cart.zip holds 4.8 MiB: the same stack was a leak in an earlier run (since 2026-01-01"
                + " 13:02:00 UTC, lost), and is unused again: ")
        .contains(
            " observed objects were not accessed since they were allocated, up to 5 min;",
            "; a timeout, scan or swap after more than 5 min is possible; +");
    assertThat(verdict(report, 2).verdict()).isEqualTo(Verdict.UNUSED);
  }

  @Test
  void whatIsKnownFromAnEarlierRunIsOutlastedLater() {
    site(1, "Cart.zip");
    knowFromAnEarlierRun(1);
    SiteVerdict first = verdict(growing(0, 7 * MINUTE, 1), 1);
    assertThat(first.grounds().evidence()).isEqualTo(LeakEvidence.KNOWN);
    SiteVerdict later = verdict(growing(7 * MINUTE, 45 * MINUTE, 1), 1);

    assertThat(later.verdict()).isEqualTo(Verdict.LEAK);
    assertThat(later.grounds().evidence()).isEqualTo(LeakEvidence.OUTLASTED);
    assertThat(later.since()).isEqualTo(first.since());
  }

  @Test
  void aStackThatLeakedInAnEarlierRunIsNoneWhileItIsUsed() {
    site(1, "Cart.zip");
    knowFromAnEarlierRun(1);
    for (double second = 15; second <= 10 * MINUTE; second += 15) {
      useAll(second);
      assertThat(verdict(growing(second - 15, second, 1), 1).verdict())
          .isNotIn(Verdict.LEAK, Verdict.UNUSED);
    }
  }

  @Test
  void aStackThatLeakedInAnEarlierRunIsNoneUnlessItGrows() {
    site(1, "Tables.load");
    knowFromAnEarlierRun(1);
    growing(0, 4 * MINUTE, 1);
    for (double second = 4 * MINUTE; second < 30 * MINUTE; second += 15) {
      assertThat(verdict(evaluate(second), 1).verdict()).isNotEqualTo(Verdict.LEAK);
    }
  }

  @Test
  void aLeakByAnEarlierRunThatIsUsedIsGivenUpAndForgotten() {
    site(1, "Cart.zip");
    knowFromAnEarlierRun(1);
    assertThat(verdict(growing(0, 8 * MINUTE, 1), 1).verdict()).isEqualTo(Verdict.LEAK);
    SiteVerdict verdict = verdict(evaluate(8 * MINUTE), 1);
    for (int i = 1; i <= TO_CLEAR_A_LEAK; i++) {
      assertThat(verdict.verdict()).isEqualTo(Verdict.LEAK);
      double second = 8 * MINUTE + i * 15;
      useAll(second);
      verdict = verdict(growing(second - 15, second, 1), 1);
    }

    assertThat(verdict.verdict()).isNotEqualTo(Verdict.LEAK);
    assertThat(known.all()).isEmpty();
  }

  /**
   * The site has freed objects after a long idle time. The site's threshold of idle time therefore
   * exceeds the age of the process.
   */
  @Test
  void aLeakByAnEarlierRunIsNotGivenUpBecauseItIsTooYoungForItsThreshold() {
    site(1, "Cart.zip");
    knowFromAnEarlierRun(1);
    assertThat(verdict(growing(0, 7 * MINUTE, 1), 1).verdict()).isEqualTo(Verdict.LEAK);
    uses.put(1, new SiteUse(90, 3, DurationSketch.NONE, sketch(240, 3), DurationSketch.NONE));

    assertThat(verdict(growing(7 * MINUTE, 14 * MINUTE, 1), 1).verdict()).isEqualTo(Verdict.LEAK);
  }

  @Test
  void aLeakOfSeveralStacksIsKnownInTheNextRun() {
    detector = new LeakDetector(NO_TIMEOUTS, known);
    cartByTwoWays();
    assertThat(verdict(growing(0, 20 * MINUTE, 1, 2), 1).site().stacks()).isEqualTo(2);
    assertThat(known.all()).hasSize(2);

    KnownLeaks ofNextRun = new KnownLeaks();
    ofNextRun.add(known.all());
    objects.clear();
    detector = new LeakDetector(MallometerOptions.defaults(), ofNextRun);
    SiteVerdict again = verdict(growing(0, 360, 1, 2), 1);
    assertThat(again.grounds().evidence()).isEqualTo(LeakEvidence.KNOWN);
    assertThat(again.site().stacks()).isEqualTo(2);
  }

  @Test
  void aStackThatLeaksStaysKnownWhenAnotherBecomesTheFirst() {
    detector = new LeakDetector(NO_TIMEOUTS, known);
    cartByTwoWays();
    assertThat(growing(0, 20 * MINUTE, 1).leaks())
        .extracting(leak -> leak.site().number())
        .containsExactly(1);
    LeakReport both = growing(20 * MINUTE, 40 * MINUTE, 1, 2, 2);
    assertThat(both.leaks()).extracting(leak -> leak.site().stacks()).containsExactly(2);
    LeakReport swapped = growing(40 * MINUTE, 60 * MINUTE, 1, 2, 2);
    assertThat(swapped.leaks()).extracting(leak -> leak.site().number()).containsExactly(2);

    assertThat(known.all()).hasSize(2);
  }

  private void cartByTwoWays() {
    for (int number = 1; number <= 2; number++) {
      uses.put(number, SiteUse.NONE);
      sites.put(
          number,
          site(
              number,
              "Cart.zip",
              StackFrame.ofJava("Cart", "zip", "", 0),
              StackFrame.ofJava("Way" + number, "run", "", 0)));
    }
  }

  /** Evaluates every 15 s, while each site allocates an object every 5 s. */
  private LeakReport growing(double from, double until, int... numbers) {
    LeakReport report = evaluate(from);
    for (double second = from + EPOCH; second <= until; second += EPOCH) {
      for (int number : numbers) {
        object(number, second, second, 64 * KIB, 1, 1);
      }
      if (Math.round(second) % 15 == 0) {
        report = evaluate(second);
      }
    }
    return report;
  }

  private void useAll(double second) {
    useAll(object -> true, second);
  }

  private void useAll(Predicate<SampledObject> which, double second) {
    objects.replaceAll(
        object ->
            which.test(object)
                ? new SampledObject(
                    object.site(),
                    object.bytes(),
                    object.probability(),
                    object.placement(),
                    object.bornNanos(),
                    nanos(second))
                : object);
  }

  private void knowFromAnEarlierRun(int number) {
    known.add(
        List.of(
            new KnownLeak(
                StackFingerprint.of(sites.get(number).frames()),
                Instant.parse("2026-01-01T13:02:00Z"),
                LeakEvidence.LOST)));
    detector = new LeakDetector(MallometerOptions.defaults(), known);
  }

  // ---- The simulated history

  private void site(int number, String name) {
    uses.put(number, SiteUse.NONE);
    int dot = name.lastIndexOf('.');
    sites.put(
        number,
        site(
            number,
            name,
            StackFrame.ofJava(name.substring(0, dot), name.substring(dot + 1), "", 0)));
  }

  private static CallSite site(int number, String name, StackFrame... frames) {
    return site(number, name, 5e6, List.of(frames));
  }

  private static CallSite site(int number, String name, double liveBytes, List<StackFrame> frames) {
    Estimate live = new Estimate(liveBytes, 0, 40);
    return new CallSite(
        number,
        frames,
        name,
        "libzip.so",
        40,
        live,
        live,
        live,
        live,
        Double.NaN,
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }

  private void live(int number, double bytes) {
    CallSite site = sites.get(number);
    sites.put(number, site(number, site.name(), bytes, site.frames()));
  }

  /** Adds objects that are accessed only when they are allocated. */
  private void steadily(int site, double from, int count, double step, long bytes) {
    for (int i = 0; i < count; i++) {
      object(site, from + i * step, from + i * step, bytes, 1, 1);
    }
  }

  private void object(
      int site, double birth, double lastUse, long bytes, double probability, double placement) {
    objects.add(
        new SampledObject(
            site, bytes, probability, placement, nanos(birth), placement > 0 ? nanos(lastUse) : 0));
  }

  /**
   * Returns the gaps between accesses to the objects of a site. 150 of the 20,150 gaps exceed the
   * threshold, and 150 is more than the number of idle objects.
   */
  private static SiteUse comingBack() {
    float[] weights = new float[DurationSketch.BUCKETS];
    weights[DurationSketch.bucket(20)] = 20_000;
    weights[DurationSketch.bucket(600)] = 150;
    return new SiteUse(
        9, 0, DurationSketch.NONE, DurationSketch.NONE, new DurationSketch(20_150, weights));
  }

  private static DurationSketch sketch(double seconds, int count) {
    float[] weights = new float[DurationSketch.BUCKETS];
    weights[DurationSketch.bucket(seconds)] = count;
    return new DurationSketch(count, weights);
  }

  private SiteVerdict settled(double seconds, int number) {
    for (int i = TO_CHANGE; i > 0; i--) {
      evaluate(seconds - i * EPOCH);
    }
    return verdict(evaluate(seconds), number);
  }

  /** Evaluates every 15 s during the given number of seconds before minute 29. */
  private void evaluateFor(double seconds) {
    for (double second = 29 * MINUTE - seconds; second <= 29 * MINUTE; second += 15) {
      evaluate(second);
    }
  }

  private static String withoutRate(String sentence) {
    return sentence.replaceFirst("; \\+.*", "");
  }

  private List<SampledObject> bornBy(double seconds) {
    return objects.stream().filter(object -> object.bornNanos() <= nanos(seconds)).toList();
  }

  private static boolean holds(SiteVerdict verdict, int number) {
    return verdict.site().number() == number
        || verdict.site().others().stream().anyMatch(stack -> stack.number() == number);
  }

  private static SiteVerdict verdict(LeakReport report, int number) {
    Optional<SiteVerdict> found =
        report.sites().stream().filter(one -> holds(one, number)).findFirst();
    assertThat(found).isPresent();
    return found.get();
  }

  private LeakReport evaluate(double seconds) {
    CallSites read = SitesByHand.reading(Instant.EPOCH, new ArrayList<>(sites.values()));
    return detector.evaluate(
        new Evidence(nanos(seconds), observation(seconds), bornBy(seconds), uses),
        read,
        Instant.EPOCH.plusSeconds((long) seconds),
        LatestAccesses.unavailable("not watched"),
        this::acknowledged);
  }

  private boolean acknowledged(String name) {
    if (name.equals(nobodyKnows)) {
      throw new IllegalStateException("cannot be looked up");
    }
    return acknowledgementsAsked++ < 0;
  }

  private Observation observation(double seconds) {
    double end = Double.isNaN(tellingEnd) ? seconds : tellingEnd;
    long all = epochs >= 0 ? epochs : (long) (end / EPOCH) + voidEpochs;
    return VerdictsByHand.observation(
        state, new Observation.Period("cold", START, nanos(end), EPOCH, all, voidEpochs, 0));
  }

  private static long nanos(double seconds) {
    return START + Math.round(seconds * SECOND);
  }
}
