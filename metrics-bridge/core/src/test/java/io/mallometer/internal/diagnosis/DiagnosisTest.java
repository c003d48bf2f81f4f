package io.mallometer.internal.diagnosis;

import static io.mallometer.internal.diagnosis.Situation.MIB;
import static io.mallometer.internal.diagnosis.Situation.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.FaceContract;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.process.Collector;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.Advice;
import io.mallometer.model.Baseline;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Finding;
import io.mallometer.model.Diagnosis.State;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the state and the sentence of the diagnosis in many situations. All sizes are in MiB. The
 * process started at noon with a limit of 1,000 MiB, and its start-up ended at 12:02.
 */
@Tag("any-jdk")
class DiagnosisTest {

  private static final double NO_LIMIT = Double.NaN;
  private static final Instant START = Situation.START;
  private static final long SECOND = 1_000_000_000L;
  private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);

  // ---- The states HEALTHY and TOO_EARLY

  @Test
  void aSteadyProcessIsHealthyWithItsEvidence() {
    Diagnosis diagnosis = new Situation(HALF_AN_HOUR, second -> 400).diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.HEALTHY);
    assertThat(diagnosis.sentence())
        .isEqualTo(
            "Memory shows no steady growth in 28 min; 40 % of the limit of 1.0 GiB is used; no"
                + " unused memory grows");
    assertThat(diagnosis.actions()).isEmpty();
    assertThat(diagnosis.limit().seconds()).isNaN();
  }

  @Test
  void aYoungProcessSaysWhatIsMissingAndWhenItWillBeThere() {
    Diagnosis starting = new Situation(Duration.ofSeconds(50), second -> second).diagnosis();
    Situation started = new Situation(Duration.ofMinutes(4), second -> 400);
    started.leaks = seenForThreeMinutes(Duration.ofMinutes(4));

    Situation later = new Situation(Duration.ofSeconds(270), second -> 400);
    later.leaks = seenForThreeMinutes(Duration.ofSeconds(270));

    assertThat(later.diagnosis().sentence())
        .contains("unused memory and growth can be judged from 12:07 UTC");
    assertThat(starting.state()).isEqualTo(State.TOO_EARLY);
    assertThat(starting.sentence()).isEqualTo("Too early to tell: the application is starting");
    assertThat(started.diagnosis().sentence())
        .isEqualTo("Too early to tell: unused memory and growth can be judged from 12:06 UTC");
  }

  private static LeakReport seenForThreeMinutes(Duration age) {
    LeakReport young = VerdictsByHand.youngReport(Duration.ofMinutes(3));
    return new LeakReport(START.plus(age), young.observation(), young.sites(), "");
  }

  @Test
  void whatGrewDuringTheStartUpDoesNotCount() {
    Situation warm = new Situation(Duration.ofMinutes(8), second -> Math.min(300, second * 2));

    assertThat(warm.diagnosis().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void withoutTheLibraryTheSystemsFiguresAreTheEvidence() {
    Situation uncounted = new Situation(HALF_AN_HOUR, second -> 400);
    uncounted.status = new Status(io.mallometer.model.State.UNAVAILABLE, "not preloaded", "");
    uncounted.leaks = LeakReport.none(START, "");

    assertThat(uncounted.diagnosis().sentence())
        .endsWith("is used; native allocations are not counted");
    assertThat(text(uncounted.diagnosis(), "counting")).endsWith("not preloaded");
  }

  @Test
  void whereNothingCanBeReadNothingIsGreen() {
    Situation blind = new Situation(HALF_AN_HOUR, second -> UNKNOWN);
    blind.leaks = LeakReport.none(START, "");

    assertThat(blind.diagnosis().state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void whyUseIsNotObservedIsAReasonAndNotTheAnswer() {
    Situation off = new Situation(HALF_AN_HOUR, second -> 400);
    off.leaks = LeakReport.none(START, "MALLOMETER_LEAKS is off");

    assertThat(off.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(off.diagnosis().sentence()).doesNotContain("no call site");
    assertThat(text(off.diagnosis(), "leaks"))
        .isEqualTo("Accesses to objects are not observed: MALLOMETER_LEAKS is off");
  }

  // ---- Growth

  @Test
  void growthThatReachesTheLimitWithinMinutesIsToActOn() {
    Situation grows = new Situation(Duration.ofMinutes(5), second -> 400 + second);

    Diagnosis diagnosis = grows.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.ACT);
    assertThat(diagnosis.sentence())
        .isEqualTo("OOM kill expected at 12:10 UTC. Memory grows 60 MiB/min, cause not known yet");
    assertThat(diagnosis.actions())
        .containsExactly(
            "Save the evidence, and restart before 12:10 UTC",
            "Open the runbook: docs/runbooks/unexplained.md");
    assertThat(diagnosis.limit().seconds()).isCloseTo(300, within(5.0));
  }

  /** The kernel drops pages of files, even active ones, before it kills a process. */
  @Test
  void cachedFilesDoNotCount() {
    Situation reads = new Situation(HALF_AN_HOUR, second -> 400);
    reads.pageCache = second -> 200 + second / 5.0;

    assertThat(reads.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(reads.diagnosis().sentence())
        .startsWith("Memory shows no steady growth in 28 min; 40 % of the limit");
  }

  /** The pages of a mapped file are resident, but the kernel can drop them. */
  @Test
  void pagesOfFilesUseUpNoLimitWhoeverSetIt() {
    Situation stated = new Situation(Duration.ofMinutes(10), second -> 400);
    stated.pageCache = second -> 100 + second;
    stated.limit = NO_LIMIT;
    stated.stated = 1_000 * MIB;
    Situation machine = new Situation(Duration.ofMinutes(10), second -> 400);
    machine.pageCache = second -> 100 + second;
    machine.limit = NO_LIMIT;

    for (Situation one : List.of(stated, machine)) {
      assertThat(one.diagnosis().state()).isEqualTo(State.HEALTHY);
      assertThat(one.diagnosis().sentence()).startsWith("Memory shows no steady growth");
      assertThat(one.diagnosis().limit().seconds()).isNaN();
    }
    assertThat(stated.diagnosis().limit().usedShare()).isEqualTo(0.4);
  }

  @Test
  void growthIsNotMostlyPagesOfFiles() {
    Situation reads = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    reads.pageCache = second -> 10.0 * second;

    assertThat(reads.diagnosis().sentence())
        .isEqualTo("OOM kill expected at 12:10 UTC. Memory grows 60 MiB/min, cause not known yet");
  }

  /** The program allocates 1 GiB a minute and never touches it. */
  @Test
  void memoryThatIsNeverTouchedReachesNoLimit() {
    Situation reserves = new Situation(Duration.ofMinutes(10), second -> 400);
    reserves.live = second -> 100 + second * 17.0;
    reserves.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.LEAK, "a.B.reserve", 61_440 * MIB, 10_000 * MIB));

    assertThat(reserves.diagnosis().sentence())
        .isEqualTo(
            "B.reserve (Some.java:12) leaks 1.0 GiB/min, 9.8 GiB not accessed for 2 min or more");
    assertThat(reserves.diagnosis().limit().seconds()).isNaN();
  }

  /** Growth slows down as the warm-up ends. A leak adds 1.5 MiB a minute the whole time. */
  @Test
  void aSlowLeakShowsThroughTheWarmUpBeforeIt() {
    Situation leaks =
        new Situation(
            Duration.ofMinutes(22),
            second -> 400 + second / 40.0 - 40 * Math.exp(-(second - 120) / 120.0));
    leaks.limit = 700;

    assertThat(leaks.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(leaks.diagnosis().sentence())
        .startsWith("OOM kill expected in about 3 h. Memory grows 1.");
  }

  @Test
  void underTwoMinutesOfGrowthAreTooEarly() {
    assertThat(new Situation(Duration.ofSeconds(170), second -> 400 + second).diagnosis().state())
        .isEqualTo(State.TOO_EARLY);
    assertThat(new Situation(Duration.ofSeconds(160), second -> 400).diagnosis().state())
        .isEqualTo(State.TOO_EARLY);
  }

  /**
   * The size of the heap is known from two readings only. With a maximum heap of 700 MiB, the
   * process stays below its limit; with 2,000 MiB, it can exceed the limit.
   */
  @Test
  void aHeapThatGrowsIsNoReasonToActThoughItsSizeWasReadOnlyTwice() {
    assertThat(heapThatGrows(700).state()).isEqualTo(State.TOO_EARLY);
    assertThat(heapThatGrows(700).limit().seconds()).isNaN();
    assertThat(heapThatGrows(2_000).state()).isEqualTo(State.ACT);
  }

  private static Diagnosis heapThatGrows(double mostHeap) {
    Situation warms = new Situation(Duration.ofSeconds(250), second -> 200 + 2 * second);
    warms.readingSeconds = 130;
    warms.limit = 1_200;
    warms.heap = second -> 50 + 2 * second;
    warms.mostHeap = mostHeap;
    warms.live = second -> 0;
    return warms.diagnosis();
  }

  @Test
  void growthThatReachesTheLimitWithinADayIsToWatch() {
    Diagnosis slow = new Situation(HALF_AN_HOUR, second -> 400 + 2 * second / 60.0).diagnosis();

    assertThat(slow.state()).isEqualTo(State.WATCH);
    assertThat(slow.sentence()).startsWith("OOM kill expected in about 5 h. ");
  }

  /** Growth is extrapolated to at most 24 times the observed time. */
  @Test
  void aShortTimeIsNotExtrapolatedToADay() {
    Diagnosis diagnosis =
        new Situation(Duration.ofMinutes(6), second -> 100 + 6 * second / 60.0).diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.TOO_EARLY);
    assertThat(diagnosis.sentence())
        .startsWith("Too early to tell: memory grows 6.0 MiB/min")
        .endsWith("watched for 4 min");
  }

  @Test
  void whatGrowsInEveryWarmUpIsNotExtrapolatedFarBeforeHalfAnHour() {
    assertThat(adding(ResidentPart.MALLOC_RETAINED, 14).state()).isEqualTo(State.TOO_EARLY);
    assertThat(adding(ResidentPart.MALLOC_RETAINED, 34).state()).isEqualTo(State.WATCH);
    assertThat(adding(ResidentPart.UNEXPLAINED, 14).state()).isEqualTo(State.WATCH);
  }

  private static Diagnosis adding(ResidentPart part, int minutes) {
    Situation grows = new Situation(Duration.ofMinutes(minutes), second -> 200 + 3 * second / 60.0);
    grows.live = second -> 0;
    grows.parts.put(part, second -> 50 + 3 * second / 60.0);
    return grows.diagnosis();
  }

  @Test
  void memoryThatANamedLineMappedIsNotUnexplained() {
    Situation maps = new Situation(HALF_AN_HOUR, second -> 400);
    maps.parts.put(ResidentPart.UNEXPLAINED, second -> 200);
    assertThat(texts(maps.diagnosis(), "unexplained"))
        .containsExactly("200 MiB of the resident set is unexplained");

    maps.mapped.put("a.Mapper.map", second -> 190);

    assertThat(texts(maps.diagnosis(), "unexplained")).isEmpty();
  }

  /** The growth is uncertain, so it may take more than half an hour to reach the limit. */
  @Test
  void whatMayTakeLongerIsToWatchOnly() {
    Situation noisy =
        new Situation(
            Duration.ofMinutes(5), second -> 400 + second / 3.0 + 10 * Math.sin(second / 6.0));

    assertThat(noisy.diagnosis().limit().lowerSeconds()).isLessThan(1_800);
    assertThat(noisy.diagnosis().limit().upperSeconds()).isGreaterThan(1_800);
    assertThat(noisy.diagnosis().state()).isEqualTo(State.WATCH);
  }

  @Test
  void growthAloneMakesNoYoungProcessHealthy() {
    Situation young = new Situation(Duration.ofSeconds(200), second -> 400 + second / 6.0);
    young.limit = 1_000_000;

    assertThat(young.diagnosis().state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void growthThatDoublesTheProcessWithinADayIsToWatchWhateverTheLimit() {
    Situation roomy = new Situation(Duration.ofMinutes(40), second -> 400 + second / 60.0);
    roomy.limit = 100_000;

    assertThat(roomy.diagnosis().state()).isEqualTo(State.WATCH);
  }

  /**
   * A part grows by 3 MiB an hour. The growth is larger than the noise, but would not double the
   * process in a day.
   */
  @Test
  void partsThatGrowLittleDoNotKeepAProcessFromBeingHealthy() {
    Situation idle = new Situation(HALF_AN_HOUR, second -> 300 + second / 1_200.0);
    idle.parts.put(ResidentPart.METASPACE, second -> 40 + second / 1_200.0);

    assertThat(idle.diagnosis().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void withoutADivisionTheTotalAloneDecides() {
    Situation flat = new Situation(HALF_AN_HOUR, second -> 300);
    flat.divided = false;
    Situation slow = new Situation(HALF_AN_HOUR, second -> 300 + second / 240.0);
    slow.divided = false;

    assertThat(flat.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(slow.diagnosis().state()).isEqualTo(State.TOO_EARLY);
  }

  /** Growth of 25 MiB an hour doubles 300 MiB in 12 hours, but is too slow to be detected. */
  @Test
  void aPartThatWouldDoubleTheProcessKeepsItFromBeingHealthy() {
    Situation slow = new Situation(Duration.ofMinutes(15), second -> 300 + second / 144.0);
    slow.parts.put(ResidentPart.METASPACE, second -> 40 + second / 144.0);

    assertThat(slow.diagnosis().state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void growthThatNeitherDoublesNorReachesTheLimitIsHealthyAndTold() {
    Situation roomy = new Situation(HALF_AN_HOUR, second -> 2_000 + second / 60.0);
    roomy.limit = 100_000;

    assertThat(roomy.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(roomy.diagnosis().sentence()).startsWith("Memory grows 1.0 MiB/min; ");
    assertThat(roomy.diagnosis().limit().seconds()).isNaN();
  }

  @Test
  void growthThatSlowsDownIsNotExtrapolated() {
    Situation fills =
        new Situation(
            Duration.ofMinutes(40), second -> 800 - 400 * Math.exp(-(second - 120) / 300.0));

    assertThat(fills.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(fills.diagnosis().limit().seconds()).isNaN();
  }

  @Test
  void whatHardlyGrowsToItsMaximumIsNotMostOfTheGrowth() {
    Situation fills =
        new Situation(
            Duration.ofMinutes(40), second -> 800 - 400 * Math.exp(-(second - 120) / 300.0));
    fills.heap = second -> 40 + second / 6_000.0;

    assertThat(fills.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(fills.diagnosis().sentence())
        .startsWith("Memory grows ")
        .contains(", beside the Java heap toward its maximum");
  }

  @Test
  void aHeapOnItsWayToItsMaximumDoesNotHideThatTheRestHardlyGrows() {
    LongToDoubleFunction heap = second -> 50 + second / 12.0;
    LongToDoubleFunction code = second -> 20 + second / 6_000.0;
    Situation fills =
        new Situation(
            HALF_AN_HOUR, second -> 300 + heap.applyAsDouble(second) + code.applyAsDouble(second));
    fills.heap = heap;
    fills.mostHeap = 800;
    fills.limit = 2_000;
    fills.parts.put(ResidentPart.CODE_CACHE, code);

    assertThat(fills.diagnosis().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void whatSwingsLevelsOffOrStepsDoesNotGrow() {
    LongToDoubleFunction swings = second -> 400 + (second / 15 % 2) * 40;
    LongToDoubleFunction levelsOff = second -> 400 + Math.min(60, second / 15.0);
    LongToDoubleFunction steps = second -> second < 900 ? 400 : 460;

    for (LongToDoubleFunction one : List.of(swings, levelsOff, steps)) {
      assertThat(new Situation(HALF_AN_HOUR, one).diagnosis().state()).isEqualTo(State.HEALTHY);
    }
  }

  /** Memory grows only from 12:06:30 to 12:07:30, by 100 MiB. */
  @Test
  void aBurstIsNotExtrapolatedOnceItIsOver() {
    LongToDoubleFunction burst = second -> 400 + Math.max(0, Math.min(100, (second - 390) / 0.6));

    assertThat(new Situation(Duration.ofSeconds(430), burst).diagnosis().sentence())
        .endsWith("memory grows 100 MiB/min, watched for 45 s");
    for (int second = 480; second < 1200; second += 5) {
      Diagnosis after = new Situation(Duration.ofSeconds(second), burst).diagnosis();
      assertThat(after.state()).as("%s s", second).isIn(State.HEALTHY, State.TOO_EARLY);
      assertThat(after.limit().seconds()).as("%s s", second).isNaN();
    }
    assertThat(new Situation(Duration.ofSeconds(1_200), burst).diagnosis().state())
        .isEqualTo(State.HEALTHY);
  }

  /**
   * Memory grows by 100 MiB at 12:20. The diagnosis cannot tell at 12:24 whether the new memory is
   * used, but at 12:31 it can.
   */
  @Test
  void memoryThatIsTooYoungToBeJudgedIsNotHealthy() {
    LongToDoubleFunction burst = second -> 400 + Math.max(0, Math.min(100, (second - 1200) / 0.6));
    Situation young = new Situation(Duration.ofMinutes(24), burst);
    young.live = burst;
    Situation old = new Situation(Duration.ofMinutes(31), burst);
    old.live = burst;

    assertThat(young.diagnosis().sentence())
        .isEqualTo("Too early to tell: whether the 100 MiB allocated in the last 5 min are used");
    assertThat(old.diagnosis().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void aStoreThatIsFullIsNotToActOn() {
    LongToDoubleFunction fills = second -> 550 + Math.min(1200, second) / 5.0;

    assertThat(new Situation(Duration.ofSeconds(1200), fills).diagnosis().state())
        .isEqualTo(State.ACT);
    for (int second = 1380; second < 3600; second += 30) {
      assertThat(new Situation(Duration.ofSeconds(second), fills).diagnosis().state())
          .as("%s s", second)
          .isNotEqualTo(State.ACT);
    }
  }

  @Test
  void growthIsSeenThroughNoise() {
    Situation noisy =
        new Situation(
            HALF_AN_HOUR, second -> 400 + second / 15.0 + (second / 45 % 7 == 0 ? 25 : 0));

    assertThat(noisy.diagnosis().state()).isEqualTo(State.WATCH);
  }

  @Test
  void aSentenceLeavesOutThePartsThatAreTooMany() {
    String eight = "a b c d e f g h";

    assertThat(Headline.join("Begins: ", ", ", List.of(eight, eight, eight, "i", "j")))
        .isEqualTo("Begins: " + eight + ", " + eight + ", " + eight);
    assertThat(Headline.join("", "; ", List.of(eight, eight, eight, eight, "i")))
        .isEqualTo(eight + "; " + eight + "; " + eight + "; i");
    String many = eight + " " + eight + " " + eight + " " + eight;
    assertThat(Headline.join("", "; ", List.of(many, "i"))).isEqualTo(many);
  }

  @Test
  void aHeapWhoseMaximumDoesNotFitIsToWatchThoughItRests() {
    Situation rests = new Situation(HALF_AN_HOUR, second -> 800);
    rests.heap = second -> 500;
    rests.mostHeap = 900;

    assertThat(rests.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(rests.diagnosis().sentence())
        .isEqualTo("The Java heap may grow by 400 MiB, and the limit of 1.0 GiB leaves 200 MiB");
    assertThat(rests.diagnosis().actions())
        .contains("Open the runbook: docs/runbooks/near-limit.md");
    rests.mostHeap = 700;
    assertThat(rests.diagnosis().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void theHeapGrowsToItsMaximumAndNoFurther() {
    Situation bounded = new Situation(Duration.ofMinutes(10), second -> 300 + second / 2.0);
    bounded.heap = second -> second / 2.0;
    bounded.mostHeap = 500;
    Situation tooLarge = new Situation(Duration.ofMinutes(10), second -> 300 + second / 2.0);
    tooLarge.heap = second -> second / 2.0;
    tooLarge.mostHeap = 900;

    assertThat(bounded.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(bounded.diagnosis().sentence()).contains("mostly the Java heap toward its maximum");
    assertThat(tooLarge.diagnosis().state()).isEqualTo(State.ACT);
    assertThat(tooLarge.diagnosis().sentence())
        .isEqualTo("OOM kill expected at 12:23 UTC. Java heap adds 30 MiB/min");
    assertThat(tooLarge.diagnosis().actions())
        .contains("Open the runbook: docs/runbooks/near-limit.md");
  }

  @Test
  void memoryThatWaitsForACollectionAsksForNoStateButIsListedWithAdvice() {
    Situation waits = new Situation(Duration.ofMinutes(10), second -> 300);
    waits.leaks =
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.WAITS_FOR_GC, "a.B.pack", 3, 200 * MIB));

    assertThat(waits.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(texts(waits.diagnosis(), "garbage"))
        .singleElement()
        .asString()
        .contains(". Close what ", "-XX:MaxDirectMemorySize", "-Xmx")
        .endsWith(
            Collector.ofThisJvm()
                .collectsPeriodically(ProcessHandle.current().pid())
                .map(", or "::concat)
                .orElse("-Xmx"))
        .doesNotContain("may not come in time");
  }

  @Test
  void garbageOfAHealthySiteIsListed() {
    Situation waits = new Situation(Duration.ofMinutes(10), second -> 300);
    waits.leaks =
        VerdictsByHand.report(
            VerdictsByHand.garbage(Verdict.HEALTHY, "a.B.pack", 200 * MIB, GarbageAnswer.OLD, MIB));

    assertThat(waits.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(texts(waits.diagnosis(), "garbage"))
        .singleElement()
        .asString()
        .contains("a.B.pack", ". Close what ");

    waits.leaks =
        VerdictsByHand.report(
            VerdictsByHand.garbage(
                Verdict.HEALTHY, "a.B.pack", 200 * MIB, GarbageAnswer.OUTLIVED, 0));

    assertThat(texts(waits.diagnosis(), "garbage")).isEmpty();
  }

  @Test
  void nearTheLimitACollectionMayNotComeInTime() {
    Situation near = new Situation(Duration.ofMinutes(10), second -> 960);
    near.leaks =
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.WAITS_FOR_GC, "a.B.pack", 3, 200 * MIB));

    assertThat(texts(near.diagnosis(), "garbage"))
        .singleElement()
        .asString()
        .contains("The limit is near, and a collection may not come in time");
  }

  @Test
  void aSiteThatMakesUpMostOfTheGrowthIsNamedWithItsLine() {
    Situation grows = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    grows.liveAndResident(second -> 100 + second);
    grows.with("a.B.pack", 40, second -> second);
    grows.leaks = VerdictsByHand.report(growing("a.B.pack", 60 * MIB * 60, 40 * MIB));

    assertThat(grows.diagnosis().sentence())
        .isEqualTo(
            "OOM kill expected at 12:10 UTC. B.pack (Some.java:12) adds 60 MiB/min, holds 40 MiB");
  }

  @Test
  void aSiteIsToWatchOnceItsSamplesExcludeZero() {
    assertThat(sampled(40).state()).isEqualTo(State.WATCH);
    assertThat(sampled(40).sentence()).endsWith("B.pack (Some.java:12) adds 3.0 MiB/min");
    assertThat(sampled(2).state()).isNotEqualTo(State.WATCH);
  }

  private static Diagnosis sampled(int samples) {
    Situation grows = new Situation(Duration.ofMinutes(10), second -> 400 + second / 20.0);
    grows.limit = 100_000;
    grows.liveAndResident(second -> 100 + second / 20.0);
    grows.with("a.B.pack", samples, second -> second / 20.0);
    return grows.diagnosis();
  }

  @Test
  void aStatedLimitReplacesTheCgroups() {
    Situation stated = new Situation(Duration.ofMinutes(10), second -> 400 + second / 10.0);
    stated.stated = 500 * MIB;

    assertThat(stated.diagnosis().limit().source()).isEqualTo(Diagnosis.Limit.STATED);
    assertThat(stated.diagnosis().state()).isEqualTo(State.ACT);
  }

  @Test
  void aStatedLimitAboveTheCgroupsHidesNothing() {
    Situation stated = new Situation(HALF_AN_HOUR, second -> 960);
    stated.stated = 5_000 * MIB;

    assertThat(stated.diagnosis().limit().source()).isEqualTo(Diagnosis.Limit.CGROUP);
    assertThat(stated.diagnosis().state()).isEqualTo(State.ACT);
  }

  @Test
  void aMachineThatOtherProcessesFillIsToWatch() {
    Situation machine = new Situation(HALF_AN_HOUR, second -> 400);
    machine.limit = NO_LIMIT;
    machine.available = 100;

    assertThat(machine.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(machine.diagnosis().sentence()).endsWith("most of it by other processes");
  }

  @Test
  void withoutACgroupsLimitTheMachineIsTheLimit() {
    Situation machine = new Situation(HALF_AN_HOUR, second -> 400);
    machine.limit = NO_LIMIT;

    assertThat(machine.diagnosis().sentence()).contains("25 % of the machine's 7.8 GiB is used");
  }

  // ---- Near the limit

  @Test
  void aFullLimitIsToActOnUnlessTheHeapFillsIt() {
    Situation full = new Situation(HALF_AN_HOUR, second -> 960);
    Situation heap = new Situation(HALF_AN_HOUR, second -> 960);
    heap.heap = second -> 700;
    heap.mostHeap = 700;
    Situation nearly = new Situation(HALF_AN_HOUR, second -> 920);

    assertThat(full.diagnosis().state()).isEqualTo(State.ACT);
    assertThat(full.diagnosis().sentence()).isEqualTo("96 % of the limit of 1.0 GiB is used");
    assertThat(heap.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(heap.diagnosis().sentence()).endsWith("most of it by the Java heap");
    assertThat(nearly.diagnosis().state()).isEqualTo(State.WATCH);
  }

  /** The kernel reclaims memory at the limit, so growth seems to slow down. */
  @Test
  void aFullLimitDoesNotHideWhatFilledIt() {
    Situation full = new Situation(Duration.ofMinutes(13), second -> Math.min(960, 400 + second));
    full.live = second -> 100 + second;
    full.parts.put(ResidentPart.MALLOC_LIVE, second -> Math.min(660, 100 + second));
    full.with("a.B.c", 40, second -> Math.min(560, second));
    full.leaks = VerdictsByHand.report(unused("a.B.c", 3_600 * MIB, 40 * MIB));

    assertThat(full.diagnosis().state()).isEqualTo(State.ACT);
    assertThat(full.diagnosis().sentence())
        .startsWith("96 % of the limit of 1.0 GiB is used. B.c (Some.java:12) adds ");
    assertThat(full.diagnosis().named()).containsExactly("a.B.c");
  }

  // ---- Suspects

  @Test
  void aLeakThatGrowsIsToActOnHoweverSlowly() {
    Situation leaks = new Situation(HALF_AN_HOUR, second -> 400);
    leaks.leaks = VerdictsByHand.report(VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 7, 30 * MIB));

    assertThat(leaks.diagnosis().state()).isEqualTo(State.ACT);
    assertThat(leaks.diagnosis().sentence())
        .isEqualTo("B.c (Some.java:12) leaks 3.0 MiB/min, 30 MiB not accessed for 12 min or more");
    assertThat(leaks.diagnosis().actions())
        .containsExactly(
            "Save the evidence",
            "Free or close what B.c (Some.java:12) allocates",
            "Open the runbook: docs/runbooks/leak-suspected.md");
  }

  /** Memory is called lost only if no pointer refers to it. Idle memory may still be used. */
  @Test
  void whatIsLostIsSaidToHaveLeakedSoFar() {
    Situation leaks = new Situation(HALF_AN_HOUR, second -> 400);
    leaks.leaks =
        VerdictsByHand.report(
            VerdictsByHand.lost(VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 7, 30 * MIB)));

    assertThat(leaks.diagnosis().sentence())
        .isEqualTo("B.c (Some.java:12) leaks 3.0 MiB/min, 30 MiB lost so far");
  }

  @Test
  void aLeakThatDoesNotGrowIsToWatch() {
    Situation unknown = new Situation(HALF_AN_HOUR, second -> 400);
    unknown.leaks = VerdictsByHand.report(VerdictsByHand.leak("a.B.c", 30 * MIB));
    Situation stopped = new Situation(HALF_AN_HOUR, second -> 400);
    stopped.leaks = VerdictsByHand.report(VerdictsByHand.stopped("a.B.c", 30 * MIB, START));

    assertThat(unknown.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(unknown.diagnosis().sentence())
        .isEqualTo(
            "B.c (Some.java:12) leaked: 30 MiB not accessed for 12 min or more; whether it grows is"
                + " not known yet");
    assertThat(stopped.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(stopped.diagnosis().sentence())
        .isEqualTo(
            "B.c (Some.java:12) leaked: 30 MiB not accessed for 12 min or more; it has not grown"
                + " since 12:00 UTC");
  }

  @Test
  void anAcknowledgedLeakAsksForNothing() {
    Situation known = new Situation(HALF_AN_HOUR, second -> 400);
    known.leaks =
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 7, 30 * MIB).acknowledged(true));

    assertThat(known.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(known.diagnosis().sentence()).endsWith("; all suspects are acknowledged");
  }

  @Test
  void unusedMemoryIsToWatchFromATwentiethOfTheLimitOn() {
    Situation small = new Situation(HALF_AN_HOUR, second -> 400);
    small.leaks = VerdictsByHand.report(unused("a.B.c", 0, 40 * MIB));
    Situation large = new Situation(HALF_AN_HOUR, second -> 400);
    large.leaks = VerdictsByHand.report(unused("a.B.c", 0, 60 * MIB));

    assertThat(small.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(small.diagnosis().sentence()).endsWith("; suspects hold 40 MiB in all");
    assertThat(large.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(large.diagnosis().sentence())
        .isEqualTo("B.c (Some.java:12) holds 60 MiB not accessed for 2 min or more");
    assertThat(large.diagnosis().actions())
        .containsExactly(
            "Close what B.c (Some.java:12) allocates, or bound how much is kept",
            "Open the runbook: docs/runbooks/leak-suspected.md");
    large.leaks =
        VerdictsByHand.report(VerdictsByHand.growing(Verdict.GROWING, "a.B.c", MIB, 60 * MIB));
    assertThat(large.diagnosis().actions())
        .contains("Open the runbook: docs/runbooks/reaches-limit.md");
  }

  @Test
  void unusedMemoryThatGrowsIsToWatchFrom8MebibytesOrAMebibyteAMinuteOn() {
    Situation none = new Situation(HALF_AN_HOUR, second -> 400);
    none.leaks =
        VerdictsByHand.report(unused("a.B.c", MIB, 3 * MIB), unused("a.B.d", MIB, 3 * MIB));
    Situation together = new Situation(HALF_AN_HOUR, second -> 400);
    together.limit = Double.NaN;
    together.leaks =
        VerdictsByHand.report(unused("a.B.c", MIB, 5 * MIB), unused("a.B.d", MIB, 4 * MIB));
    Situation fast = new Situation(HALF_AN_HOUR, second -> 400);
    fast.leaks = VerdictsByHand.report(unused("a.B.c", 61 * MIB, MIB));

    assertThat(none.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(none.diagnosis().sentence()).endsWith("; suspects hold 6.0 MiB in all");
    assertThat(together.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(fast.diagnosis().state()).isEqualTo(State.WATCH);
  }

  /**
   * Unused objects may still be freed until they have been idle for 30 min, the longest timeout.
   */
  @Test
  void unusedMemoryThatReachesTheLimitBeforeTheLongestTimeoutIsToActOn() {
    Situation soon = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    soon.liveAndResident(second -> 100 + second);
    soon.with("a.B.c", 40, second -> second);
    soon.leaks = VerdictsByHand.report(unused("a.B.c", 3_600 * MIB, 40 * MIB));
    Situation late = new Situation(HALF_AN_HOUR, second -> 400 + 2 * second / 60.0);
    late.leaks = VerdictsByHand.report(unused("a.B.c", 120 * MIB, 40 * MIB));

    assertThat(soon.diagnosis().state()).isEqualTo(State.ACT);
    assertThat(soon.diagnosis().sentence())
        .isEqualTo(
            "OOM kill expected at 12:10 UTC. B.c (Some.java:12) adds 60 MiB/min, none of it"
                + " accessed: a leak or a large cache");
    assertThat(late.diagnosis().state()).isEqualTo(State.WATCH);
    Situation burst =
        new Situation(Duration.ofMinutes(10), second -> 400 + Math.max(0, (second - 555) / 2.0));
    burst.leaks = VerdictsByHand.report(unused("a.B.c", 1_800 * MIB, 40 * MIB));
    assertThat(burst.diagnosis().limit().lowerSeconds()).isNaN();
    assertThat(burst.diagnosis().state()).isEqualTo(State.WATCH);
  }

  @Test
  void theFastestOfSeveralLeaksIsNamedAndTheOthersCounted() {
    Situation leaks = new Situation(HALF_AN_HOUR, second -> 400);
    leaks.leaks =
        VerdictsByHand.report(
            VerdictsByHand.leak("a.B.old", 300 * MIB),
            VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 8, 30 * MIB),
            VerdictsByHand.leak("a.B.older", 200 * MIB));

    assertThat(leaks.diagnosis().sentence())
        .startsWith("B.c (Some.java:12) leaks")
        .endsWith("; 2 more suspects");
  }

  // ---- The previous run

  @Test
  void anOomKillIsToWatchUntilThisRunHasLivedTwiceAsLong() {
    PreviousRun killed = oomKilled(START.minus(Duration.ofMinutes(14)));
    Situation young = new Situation(Duration.ofMinutes(20), second -> 400);
    young.previous = Optional.of(killed);
    Situation old = new Situation(HALF_AN_HOUR, second -> 400);
    old.previous = Optional.of(killed);
    Situation act = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    act.previous = Optional.of(killed);

    assertThat(young.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(young.diagnosis().sentence()).isEqualTo("The previous run was OOM-killed");
    assertThat(young.diagnosis().actions())
        .containsExactly("Open the runbook: docs/runbooks/after-a-kill.md");
    assertThat(old.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(act.diagnosis().sentence()).startsWith("OOM kill expected");
    assertThat(act.diagnosis().previous()).contains(killed);
  }

  @Test
  void ofAPreviousRunTheSentenceHasWhatFitsAndTheFindingAll() {
    Situation killed = new Situation(Duration.ofMinutes(5), second -> 400);
    String burst =
        "The previous run was OOM-killed at 12:10:10 UTC; in the last 0.3 s Buffers.grab"
            + " (Buffers.java:7) allocated 223 MiB on http-8";
    String all = burst + "; Reports.pack had grown by 210 MiB in 40 min";
    PreviousRun run = oomKilled(START.minus(Duration.ofMinutes(10)));
    killed.previous =
        Optional.of(
            new PreviousRun(
                run.file(), run.pid(), run.started(), run.ended(), run.reason(), true, all, ""));

    assertThat(killed.diagnosis().sentence()).isEqualTo(burst);
    assertThat(text(killed.diagnosis(), "previous")).isEqualTo(all);
  }

  @Test
  void thePreviousRunComesBeforeOtherThingsToWatch() {
    Situation both = new Situation(Duration.ofMinutes(20), second -> 920);
    both.previous = Optional.of(oomKilled(START.minus(Duration.ofMinutes(30))));

    assertThat(both.diagnosis().sentence()).isEqualTo("The previous run was OOM-killed");
    assertThat(both.diagnosis().actions())
        .containsExactly("Open the runbook: docs/runbooks/after-a-kill.md");
  }

  // ---- Keeping a state for a while

  // Diagnoses of processes in these states. EARLY is that of a process in its first minutes.
  private static final Diagnosis EARLY =
      new Situation(Duration.ofSeconds(160), second -> 400).diagnosis();
  private static final Diagnosis HEALTHY = new Situation(HALF_AN_HOUR, second -> 400).diagnosis();
  private static final Diagnosis WATCH =
      new Situation(HALF_AN_HOUR, second -> 400 + 2 * second / 60.0).diagnosis();
  private static final Diagnosis ACT =
      new Situation(Duration.ofMinutes(5), second -> 400 + second).diagnosis();

  @Test
  void aMilderStateNeedsFiveMinutesOfEvidence() {
    HeldDiagnosis stands = new HeldDiagnosis(START);

    assertThat(stands.update(ACT, 0).state()).isEqualTo(State.ACT);
    Diagnosis held = stands.update(HEALTHY, 30 * SECOND);
    assertThat(held.sentence())
        .isEqualTo("Memory grows 60 MiB/min, cause not known yet; as of 12:05 UTC");
    assertThat(held.actions())
        .containsExactly("Save the evidence", "Open the runbook: docs/runbooks/unexplained.md");
    assertThat(stands.update(WATCH, 32 * SECOND).sentence())
        .isEqualTo("Memory grows 60 MiB/min, cause not known yet; as of 12:05 UTC");
    assertThat(stands.update(ACT, 35 * SECOND).sentence()).isEqualTo(ACT.sentence());
    assertThat(stands.update(HEALTHY, 37 * SECOND).limit()).isEqualTo(HEALTHY.limit());
    assertThat(stands.update(ACT, 40 * SECOND).since()).isEqualTo(ACT.since());
    assertThat(stands.update(HEALTHY, 339 * SECOND).state()).isEqualTo(State.ACT);
    assertThat(stands.update(HEALTHY, 340 * SECOND).state()).isEqualTo(State.HEALTHY);
    assertThat(stands.update(ACT, 341 * SECOND).state()).isEqualTo(State.ACT);
  }

  /** On a busy machine the state can become {@code ACT} before the call sites are read. */
  @Test
  void aHeldSentenceWithoutARowNamesTheRowThatIsKnownNow() {
    HeldDiagnosis held = new HeldDiagnosis(START);
    Situation unread = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    unread.divided = false;
    Diagnosis act = unread.diagnosis();
    Situation known = new Situation(Duration.ofMinutes(6), second -> Math.min(760, 400 + second));
    known.liveAndResident(second -> Math.min(460, 100 + second));
    known.with("a.B.c", 40, second -> Math.min(360, second));

    assertThat(act.named()).isEmpty();
    assertThat(held.update(act, 0).sentence()).endsWith("Memory grows 60 MiB/min");
    Diagnosis named =
        held.update(
            known.diagnosis().held(State.TOO_EARLY, START, EARLY.sentence(), List.of(), List.of()),
            SECOND);
    assertThat(named.state()).isEqualTo(State.ACT);
    assertThat(named.sentence())
        .isEqualTo("Memory grows 60 MiB/min; as of 12:05 UTC; mostly B.c (Some.java:12)");
    assertThat(named.named()).containsExactly("a.B.c");
  }

  @Test
  void whatWasToWatchAMomentAgoIsNotHealthyWhenActEnds() {
    HeldDiagnosis stands = new HeldDiagnosis(START);

    stands.update(ACT, 0);
    stands.update(WATCH, 299 * SECOND);
    Diagnosis milder = stands.update(HEALTHY, 300 * SECOND);
    assertThat(milder.state()).isEqualTo(State.WATCH);
    assertThat(milder.sentence())
        .isEqualTo("Memory grows 2.0 MiB/min, cause not known yet; as of 12:30 UTC");
    assertThat(stands.update(HEALTHY, 599 * SECOND).state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void tooEarlyNeverFollowsAnotherState() {
    HeldDiagnosis stands = new HeldDiagnosis(START);

    assertThat(stands.update(HEALTHY, SECOND).state()).isEqualTo(State.HEALTHY);
    assertThat(stands.update(EARLY, 400 * SECOND).state()).isEqualTo(State.HEALTHY);
    assertThat(stands.update(ACT, 401 * SECOND).state()).isEqualTo(State.ACT);
    assertThat(stands.update(EARLY, 700 * SECOND).state()).isEqualTo(State.ACT);
    assertThat(stands.update(EARLY, 701 * SECOND).state()).isEqualTo(State.WATCH);
    Diagnosis waiting = stands.update(EARLY, 2_000 * SECOND);
    assertThat(waiting.state()).isEqualTo(State.WATCH);
    assertThat(waiting.since()).isEqualTo(EARLY.since());
    assertThat("Too early to tell: " + waiting.sentence()).isEqualToIgnoringCase(EARLY.sentence());
    assertThat(waiting.account()).isEqualTo(EARLY.account());
    assertThat(stands.update(HEALTHY, 2_299 * SECOND).state()).isEqualTo(State.WATCH);
    assertThat(stands.update(HEALTHY, 2_300 * SECOND).state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void healthyIsNotEarnedByOneDraw() {
    HeldDiagnosis stands = new HeldDiagnosis(START);

    stands.update(EARLY, 0);
    Diagnosis once = stands.update(HEALTHY, SECOND);
    assertThat(once.state()).isEqualTo(State.TOO_EARLY);
    assertThat(once.sentence()).isEqualTo(EARLY.sentence() + "; as of 12:02 UTC");
    stands.update(EARLY, 100 * SECOND);
    assertThat(stands.update(HEALTHY, 219 * SECOND).state()).isEqualTo(State.TOO_EARLY);
    assertThat(stands.update(HEALTHY, 220 * SECOND).state()).isEqualTo(State.HEALTHY);
    stands.update(WATCH, 230 * SECOND);
    stands.update(EARLY, 500 * SECOND);
    assertThat(stands.update(HEALTHY, 799 * SECOND).state()).isEqualTo(State.WATCH);
    assertThat(stands.update(HEALTHY, 800 * SECOND).state()).isEqualTo(State.HEALTHY);
    stands.update(WATCH, 810 * SECOND);
    stands.reset();
    assertThat(stands.update(HEALTHY, 811 * SECOND).sentence())
        .startsWith("Too early to tell: the limit or the counting has changed");
    assertThat(stands.update(HEALTHY, 930 * SECOND).state()).isEqualTo(State.HEALTHY);
  }

  /** Retained memory grows by 1 MiB/min, but the last reading is 4 MiB too low. */
  @Test
  void oneLowReadingMakesNoGrowingRowHealthy() {
    LongToDoubleFunction retained = second -> 50 + second / 60.0 - (second < 600 ? 0 : 4);
    Situation dips =
        new Situation(Duration.ofMinutes(10), second -> 150 + retained.applyAsDouble(second));
    dips.liveAndResident(second -> 10);
    dips.parts.put(ResidentPart.MALLOC_RETAINED, retained);

    assertThat(
            dips.diagnosis().account().orElseThrow().rows().stream()
                .anyMatch(row -> row.kind() == Kind.RETAINED && row.plateau()))
        .isTrue();
    assertThat(dips.diagnosis().state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void aNewLimitAndAnAttachBeginAnew() {
    HeldDiagnosis stands = new HeldDiagnosis(START);
    Situation larger = new Situation(Duration.ofSeconds(160), second -> 400);
    larger.limit = 2_000;
    Diagnosis early = larger.diagnosis();

    assertThat(stands.update(ACT, 0).state()).isEqualTo(State.ACT);
    assertThat(stands.update(early, SECOND).state()).isEqualTo(State.TOO_EARLY);
    stands.update(ACT, 2 * SECOND);
    stands.reset();
    assertThat(stands.update(early, 3 * SECOND).state()).isEqualTo(State.TOO_EARLY);
  }

  /**
   * The diagnosis uses the limit that leaves the least memory. A switch from the cgroup's limit to
   * a stated limit does not end the state {@code ACT}. The state ends early only if a limit is
   * changed or removed.
   */
  @Test
  void aLimitThatOnlyTakesTheOthersPlaceBeginsNothingAnew() {
    HeldDiagnosis stands = new HeldDiagnosis(START);
    Situation grows = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    Diagnosis act = grows.diagnosis();
    Situation stated = new Situation(Duration.ofSeconds(160), second -> 400);
    stated.stated = 900 * MIB;
    Diagnosis early = stated.diagnosis();
    stated.stated = 950 * MIB;
    Diagnosis changed = stated.diagnosis();
    stated.limit = NO_LIMIT;
    stated.stated = NO_LIMIT;

    assertThat(early.limit().source()).isNotEqualTo(act.limit().source());
    assertThat(stands.update(act, 0).state()).isEqualTo(State.ACT);
    assertThat(stands.update(early, SECOND).state()).isEqualTo(State.ACT);
    assertThat(stands.update(act, 2 * SECOND).state()).isEqualTo(State.ACT);
    assertThat(stands.update(changed, 3 * SECOND).state()).isEqualTo(State.TOO_EARLY);
    assertThat(stands.update(act, 4 * SECOND).state()).isEqualTo(State.ACT);
    assertThat(stands.update(stated.diagnosis(), 5 * SECOND).state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void theStartUpEndsWithTheFirstRefreshOrAfterTwoMinutes() {
    HeldDiagnosis silent = new HeldDiagnosis(START);
    HeldDiagnosis told = new HeldDiagnosis(START);
    told.starting(true, START);

    assertThat(silent.startedUp(START.plusSeconds(119))).isEmpty();
    assertThat(silent.startedUp(START.plusSeconds(121))).contains(START.plusSeconds(120));
    assertThat(told.startedUp(START.plusSeconds(300))).isEmpty();
    told.starting(false, START.plusSeconds(310));
    told.starting(true, START.plusSeconds(400));
    assertThat(told.startedUp(START.plusSeconds(500))).contains(START.plusSeconds(310));
    assertThat(new HeldDiagnosis(START).startedUp(START.plusSeconds(700))).isPresent();
  }

  // ---- The findings of a diagnosis

  @Test
  void whatTheAllocatorRetainsIsAReason() {
    Situation retains = new Situation(HALF_AN_HOUR, second -> 400);
    retains.allocator =
        Optional.of(
            FaceContract.allocator(0).withAdvice(List.of(new Advice("arenas", "64 arenas", "X"))));

    assertThat(retains.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(text(retains.diagnosis(), "retained"))
        .isEqualTo("The allocator retains 50.0 MiB: 64 arenas");
  }

  @Test
  void callsThatAreMissedAreAReason() {
    Situation attached = new Situation(HALF_AN_HOUR, second -> 400);
    attached.self = FaceContract.attachedReport();

    assertThat(text(attached.diagnosis(), "counting"))
        .isEqualTo(
            "Not every native allocation is counted: 2 pointers to malloc could not be changed,"
                + " 3 calls of malloc are not seen");
  }

  @Test
  void samplesWithoutACallSiteAreSaidBesideHealthy() {
    Situation few = new Situation(HALF_AN_HOUR, second -> 400);
    Situation many = new Situation(HALF_AN_HOUR, second -> 400);
    many.self =
        FaceContract.selfReport(
            new SelfReport.Sampling(
                524_288,
                1_000,
                new SelfReport.Missed(250, 3, 11),
                0.01,
                1,
                13_000_000,
                SelfReport.SlotPages.NONE,
                SelfReport.Ranges.NONE));

    assertThat(texts(few.diagnosis(), "missed")).isEmpty();
    assertThat(many.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(many.diagnosis().sentence()).endsWith("; 25 % of the samples have no call site");
    assertThat(text(many.diagnosis(), "missed")).endsWith("full: a leak there has no name");
  }

  @Test
  void buffersOfAPoolThatAreHeldLongerAndLongerAreListed() {
    Situation held = new Situation(HALF_AN_HOUR, second -> 400);
    held.pools = Optional.of(FaceContract.pools(16 * MIB, 1_800));

    assertThat(held.diagnosis().state()).isEqualTo(State.HEALTHY);
    assertThat(text(held.diagnosis(), "pools"))
        .isEqualTo(
            "Buffers from SessionStore.keep (SessionStore.java:48) are held longer and longer");
  }

  @Test
  void chunksOfAPoolAreOneRowWithTheLineWhoseBuffersKeepThem() {
    Situation kept =
        new Situation(HALF_AN_HOUR, second -> 400 + 9 * second / 60.0)
            .with("Netty (pooled) chunks", 0, second -> 8 * second / 60.0)
            .with("com.acme.Other.keep", 0, second -> second / 60.0);
    kept.liveAndResident(second -> 100 + 9 * second / 60.0);
    kept.pools = Optional.of(FaceContract.pools(16 * MIB, 1_800));

    Diagnosis diagnosis = kept.diagnosis();

    Row row = diagnosis.account().orElseThrow().row(Kind.POOL, "Netty (pooled) chunks").get();
    assertThat(row.growthBytes()).isCloseTo(27.2 * 8 * MIB, within(8.0 * MIB));
    assertThat(row.place()).isEqualTo("SessionStore.keep (SessionStore.java:48)");
    assertThat(diagnosis.account().orElseThrow().rows())
        .filteredOn(one -> one.kind() == Kind.SITE)
        .extracting(Row::name)
        .containsExactly("com.acme.Other.keep");
    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence())
        .contains(
            "Netty (pooled) chunks add 8.0 MiB/min, kept by buffers from SessionStore.keep"
                + " (SessionStore.java:48)");
    assertThat(diagnosis.actions())
        .contains(
            "Release what SessionStore.keep (SessionStore.java:48) allocates, or bound how much is"
                + " kept");
  }

  @Test
  void aSuspectThatAllocatedAChunkIsNamedByTheLineWhoseBuffersKeepIt() {
    Situation kept =
        new Situation(HALF_AN_HOUR, second -> 400).with("Netty (pooled) chunks", 0, second -> 60);
    kept.live = second -> 100;
    kept.pools = Optional.of(FaceContract.pools(16 * MIB, 1_800));
    kept.leaks = VerdictsByHand.report(unused("com.acme.First.handle", 0, 60 * MIB));

    assertThat(kept.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(kept.diagnosis().sentence())
        .isEqualTo(
            "Netty (pooled) chunks hold 60 MiB, kept by buffers from SessionStore.keep"
                + " (SessionStore.java:48)");
  }

  @Test
  void anObjectThatIsAttachedToCountsWithItsSizeWord() {
    Baseline before = new Baseline(UNKNOWN, 300 * MIB);
    NativeCounters counters = FaceContract.attachedCounters(before);
    double size = 8.0 * (counters.allocations() - counters.frees());
    Snapshot attached =
        new Snapshot(
            START,
            Status.counting(SelfReport.ATTACHED),
            Optional.of(counters),
            FaceContract.attachedReport());

    assertThat(HistoryPoint.of(attached).netBytes()).isEqualTo(-300_000 + size);
  }

  // ---- Helpers for verdicts, previous runs and findings

  private static SiteVerdict growing(String site, double perHour, double live) {
    return VerdictsByHand.growing(Verdict.GROWING, site, perHour, live);
  }

  private static SiteVerdict unused(String site, double perHour, double bytes) {
    return VerdictsByHand.growing(Verdict.UNUSED, site, perHour, bytes);
  }

  private static PreviousRun oomKilled(Instant started) {
    return new PreviousRun(
        "/recording.previous",
        7,
        started,
        START.minusSeconds(5),
        PreviousRun.OOM,
        true,
        "The previous run was OOM-killed",
        "");
  }

  private static String text(Diagnosis diagnosis, String topic) {
    return texts(diagnosis, topic).get(0);
  }

  private static List<String> texts(Diagnosis diagnosis, String topic) {
    return diagnosis.findings().stream()
        .filter(finding -> finding.topic().equals(topic))
        .map(Finding::text)
        .toList();
  }
}
