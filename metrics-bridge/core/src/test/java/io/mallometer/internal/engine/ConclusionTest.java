package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Conclusion;
import io.mallometer.model.Conclusion.Finding;
import io.mallometer.model.Conclusion.State;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * The state and the sentence of each situation. Worked examples in MiB: a process in a cgroup of
 * 1,000 MiB that was started at noon and had started up at 12:02.
 */
class ConclusionTest {

  private static final double MIB = 1 << 20;
  private static final double UNKNOWN = Double.NaN;
  private static final double NO_LIMIT = Double.NaN;
  private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");
  private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);

  // ---- Healthy and too early

  @Test
  void aSteadyProcessIsHealthyWithItsEvidence() {
    Conclusion conclusion = new Situation(HALF_AN_HOUR, second -> 400).conclusion();

    assertThat(conclusion.state()).isEqualTo(State.HEALTHY);
    assertThat(conclusion.sentence())
        .isEqualTo(
            "Memory shows no steady growth in 28 min; 40 % of the limit of 1.0 GiB is used; no call"
                + " site grows with unused objects");
    assertThat(conclusion.actions()).isEmpty();
    assertThat(conclusion.limit().seconds()).isNaN();
  }

  @Test
  void aYoungProcessSaysWhatIsMissingAndWhenItWillBeThere() {
    Conclusion starting = new Situation(Duration.ofSeconds(50), second -> second).conclusion();
    Situation started = new Situation(Duration.ofMinutes(4), second -> 400);
    started.leaks = seenForThreeMinutes(Duration.ofMinutes(4));

    Situation later = new Situation(Duration.ofSeconds(270), second -> 400);
    later.leaks = seenForThreeMinutes(Duration.ofSeconds(270));

    assertThat(later.conclusion().sentence())
        .contains("unused memory can be judged from 12:07 UTC");
    assertThat(starting.state()).isEqualTo(State.TOO_EARLY);
    assertThat(starting.sentence()).isEqualTo("Too early to tell: the application is starting");
    assertThat(started.conclusion().sentence())
        .isEqualTo(
            "Too early to tell: unused memory can be judged from 12:06 UTC, growth can be judged"
                + " from 12:05 UTC");
  }

  private static LeakReport seenForThreeMinutes(Duration age) {
    LeakReport young = VerdictsByHand.youngReport(Duration.ofMinutes(3));
    return new LeakReport(START.plus(age), young.observation(), young.sites(), "");
  }

  @Test
  void whatGrewDuringTheStartUpDoesNotCount() {
    Situation warm = new Situation(Duration.ofMinutes(8), second -> Math.min(300, second * 2));

    assertThat(warm.conclusion().state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void withoutTheLibraryTheSystemsFiguresAreTheEvidence() {
    Situation uncounted = new Situation(HALF_AN_HOUR, second -> 400);
    uncounted.status = new Status(io.mallometer.model.State.UNAVAILABLE, "not preloaded", "");
    uncounted.leaks = LeakReport.none(START, "");

    assertThat(uncounted.conclusion().sentence())
        .endsWith("is used; native allocations are not counted");
    assertThat(text(uncounted.conclusion(), "counting")).endsWith("not preloaded");
  }

  @Test
  void whereNothingCanBeReadNothingIsGreen() {
    Situation blind = new Situation(HALF_AN_HOUR, second -> UNKNOWN);
    blind.leaks = LeakReport.none(START, "");

    assertThat(blind.conclusion().state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void whyUseIsNotObservedIsAReasonAndNotTheAnswer() {
    Situation off = new Situation(HALF_AN_HOUR, second -> 400);
    off.leaks = LeakReport.none(START, "MALLOMETER_LEAKS is off");

    assertThat(off.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(off.conclusion().sentence()).doesNotContain("no call site");
    assertThat(text(off.conclusion(), "leaks"))
        .isEqualTo("Accesses to objects are not observed: MALLOMETER_LEAKS is off");
  }

  // ---- Growth

  @Test
  void growthThatReachesTheLimitWithinMinutesIsToActOn() {
    Situation grows = new Situation(Duration.ofMinutes(5), second -> 400 + second);

    Conclusion conclusion = grows.conclusion();

    assertThat(conclusion.state()).isEqualTo(State.ACT);
    assertThat(conclusion.sentence())
        .isEqualTo(
            "Memory grows +60 MiB/min (60 MiB to 60 MiB) since 12:02 UTC; cause not known yet;"
                + " limit"
                + " of 1.0 GiB at 12:10 UTC");
    assertThat(conclusion.actions())
        .containsExactly(
            "Save the evidence",
            "Restart before 12:10 UTC",
            "Open the runbook: docs/runbooks/reaches-limit.md");
    assertThat(conclusion.limit().seconds())
        .isEqualTo(300, org.assertj.core.api.Assertions.within(5.0));
  }

  /** Files that are read again are active, but the kernel drops them before it kills. */
  @Test
  void cachedFilesDoNotCount() {
    Situation reads = new Situation(HALF_AN_HOUR, second -> 400);
    reads.pageCache = second -> 200 + second / 5.0;

    assertThat(reads.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(reads.conclusion().sentence())
        .startsWith("Memory shows no steady growth in 28 min; 40 % of the limit");
  }

  /**
   * A program maps a large file and reads it: the pages are resident, and the kernel can drop them.
   */
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
      assertThat(one.conclusion().state()).isEqualTo(State.HEALTHY);
      assertThat(one.conclusion().sentence()).startsWith("Memory shows no steady growth");
      assertThat(one.conclusion().limit().seconds()).isNaN();
    }
    assertThat(stated.conclusion().limit().usedShare()).isEqualTo(0.4);
  }

  /** Unexplained memory grows, and the pages of a mapped file grow ten times as fast. */
  @Test
  void growthIsNotMostlyPagesOfFiles() {
    Situation reads = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    reads.pageCache = second -> 10.0 * second;

    assertThat(reads.conclusion().sentence())
        .startsWith("Memory grows +60 MiB/min")
        .doesNotContain("mapped-files");
  }

  /** The program allocates a gigabyte a minute and never touches it. */
  @Test
  void memoryThatIsNeverTouchedReachesNoLimit() {
    Situation reserves = new Situation(Duration.ofMinutes(10), second -> 400);
    reserves.live = second -> 100 + second * 17.0;
    reserves.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.LEAK, "a.B.reserve", 61_440 * MIB, 10_000 * MIB));

    assertThat(reserves.conclusion().sentence())
        .isEqualTo(
            "B.reserve (Some.java:12) leaks +1.0 GiB/min, 9.8 GiB not accessed for 2 min or more");
    assertThat(reserves.conclusion().limit().seconds()).isNaN();
  }

  /** It slows down over the whole time, and does not in the last quarter of an hour. */
  @Test
  void aSlowLeakShowsThroughTheWarmUpBeforeIt() {
    Situation leaks =
        new Situation(
            Duration.ofMinutes(22),
            second -> 400 + second / 40.0 - 40 * Math.exp(-(second - 120) / 120.0));
    leaks.limit = 700;

    assertThat(leaks.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(leaks.conclusion().sentence()).startsWith("Memory grows +1.");
  }

  @Test
  void underTwoMinutesOfGrowthAreToWatch() {
    assertThat(new Situation(Duration.ofSeconds(170), second -> 400 + second).conclusion().state())
        .isEqualTo(State.WATCH);
    assertThat(new Situation(Duration.ofSeconds(160), second -> 400).conclusion().state())
        .isEqualTo(State.TOO_EARLY);
  }

  @Test
  void growthThatReachesTheLimitWithinADayIsToWatch() {
    Conclusion slow = new Situation(HALF_AN_HOUR, second -> 400 + 2 * second / 60.0).conclusion();

    assertThat(slow.state()).isEqualTo(State.WATCH);
    assertThat(slow.sentence()).endsWith("limit of 1.0 GiB in about 5 h");
  }

  /** What is extrapolated is at most 24 times as long as what was watched. */
  @Test
  void aShortTimeIsNotExtrapolatedToADay() {
    Conclusion conclusion =
        new Situation(Duration.ofMinutes(6), second -> 100 + 6 * second / 60.0).conclusion();

    assertThat(conclusion.state()).isEqualTo(State.TOO_EARLY);
    assertThat(conclusion.sentence())
        .startsWith("Too early to tell: memory grows +6.0 MiB/min")
        .endsWith("watched for 4 min so far");
  }

  /** About 20 MiB a minute: at the slowest the limit is more than half an hour away. */
  @Test
  void whatMayTakeLongerIsToWatchOnly() {
    Situation noisy =
        new Situation(
            Duration.ofMinutes(5), second -> 400 + second / 3.0 + 10 * Math.sin(second / 6.0));

    assertThat(noisy.conclusion().limit().lowerSeconds()).isLessThan(1_800);
    assertThat(noisy.conclusion().limit().upperSeconds()).isGreaterThan(1_800);
    assertThat(noisy.conclusion().state()).isEqualTo(State.WATCH);
  }

  @Test
  void growthAloneMakesNoYoungProcessHealthy() {
    Situation young = new Situation(Duration.ofSeconds(200), second -> 400 + second / 6.0);
    young.limit = 1_000_000;

    assertThat(young.conclusion().state()).isEqualTo(State.TOO_EARLY);
  }

  @Test
  void growthThatReachesTheLimitInWeeksIsHealthyAndTold() {
    Situation roomy = new Situation(HALF_AN_HOUR, second -> 400 + second / 60.0);
    roomy.limit = 100_000;

    assertThat(roomy.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(roomy.conclusion().sentence())
        .startsWith("Memory grows +1.0 MiB/min")
        .contains("the limit is about 69 days away");
  }

  @Test
  void growthThatSlowsDownIsNotExtrapolated() {
    Situation fills =
        new Situation(HALF_AN_HOUR, second -> 800 - 400 * Math.exp(-(second - 120) / 300.0));

    assertThat(fills.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(fills.conclusion().limit().seconds()).isNaN();
  }

  @Test
  void whatSwingsLevelsOffOrStepsDoesNotGrow() {
    LongToDoubleFunction swings = second -> 400 + (second / 15 % 2) * 40;
    LongToDoubleFunction levelsOff = second -> 400 + Math.min(60, second / 15.0);
    LongToDoubleFunction steps = second -> second < 900 ? 400 : 460;

    for (LongToDoubleFunction one : List.of(swings, levelsOff, steps)) {
      assertThat(new Situation(HALF_AN_HOUR, one).conclusion().state()).isEqualTo(State.HEALTHY);
    }
  }

  /** Level until 12:06:30, then 100 MiB in a minute, then level again. */
  @Test
  void aBurstIsNotExtrapolatedOnceItIsOver() {
    LongToDoubleFunction burst = second -> 400 + Math.max(0, Math.min(100, (second - 390) / 0.6));

    assertThat(new Situation(Duration.ofSeconds(430), burst).conclusion().sentence())
        .startsWith("Memory grows +100 MiB/min");
    for (int second = 480; second < 1200; second += 5) {
      assertThat(new Situation(Duration.ofSeconds(second), burst).conclusion().sentence())
          .as("%s s", second)
          .startsWith("Memory shows no steady growth");
    }
  }

  /** 100 MiB from 12:20 to 12:21, which may be unused. */
  @Test
  void memoryThatIsTooYoungToBeJudgedIsNotHealthy() {
    LongToDoubleFunction burst = second -> 400 + Math.max(0, Math.min(100, (second - 1200) / 0.6));
    Situation young = new Situation(Duration.ofMinutes(24), burst);
    young.live = burst;
    Situation old = new Situation(Duration.ofMinutes(27), burst);
    old.live = burst;

    assertThat(young.conclusion().sentence())
        .isEqualTo("Too early to tell: whether the 100 MiB allocated in the last 5 min are used");
    assertThat(old.conclusion().state()).isEqualTo(State.HEALTHY);
  }

  /** Full at 12:20. */
  @Test
  void aStoreThatIsFullIsNotToActOn() {
    LongToDoubleFunction fills = second -> 550 + Math.min(1200, second) / 5.0;

    assertThat(new Situation(Duration.ofSeconds(1200), fills).conclusion().state())
        .isEqualTo(State.ACT);
    for (int second = 1380; second < 3600; second += 30) {
      assertThat(new Situation(Duration.ofSeconds(second), fills).conclusion().state())
          .as("%s s", second)
          .isNotEqualTo(State.ACT);
    }
  }

  /** A compiler takes and returns memory while the leak goes on. */
  @Test
  void growthIsSeenThroughNoise() {
    Situation noisy =
        new Situation(
            HALF_AN_HOUR, second -> 400 + second / 15.0 + (second / 45 % 7 == 0 ? 25 : 0));

    assertThat(noisy.conclusion().state()).isEqualTo(State.WATCH);
  }

  @Test
  void theHeapGrowsToItsMaximumAndNoFurther() {
    Situation bounded = new Situation(Duration.ofMinutes(10), second -> 300 + second / 2.0);
    bounded.heap = second -> second / 2.0;
    bounded.mostHeap = 500;
    Situation tooLarge = new Situation(Duration.ofMinutes(10), second -> 300 + second / 2.0);
    tooLarge.heap = second -> second / 2.0;
    tooLarge.mostHeap = 900;

    assertThat(bounded.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(bounded.conclusion().sentence())
        .contains("mostly the Java heap on its way to its maximum");
    assertThat(tooLarge.conclusion().state()).isEqualTo(State.ACT);
    assertThat(tooLarge.conclusion().sentence()).contains("mostly the Java heap");
  }

  @Test
  void aSiteThatMakesUpMostOfTheGrowthIsNamedWithItsLine() {
    Situation grows = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    grows.leaks = VerdictsByHand.report(growing("a.B.pack", 60 * MIB * 60, 40 * MIB));

    assertThat(grows.conclusion().sentence())
        .contains(
            ", mostly B.pack (Some.java:12); too early to say whether it is a leak; limit of");
  }

  @Test
  void aStatedLimitReplacesTheCgroups() {
    Situation stated = new Situation(Duration.ofMinutes(10), second -> 400 + second / 10.0);
    stated.stated = 500 * MIB;

    assertThat(stated.conclusion().limit().source()).isEqualTo(Conclusion.Limit.STATED);
    assertThat(stated.conclusion().state()).isEqualTo(State.ACT);
  }

  @Test
  void aStatedLimitAboveTheCgroupsHidesNothing() {
    Situation stated = new Situation(HALF_AN_HOUR, second -> 960);
    stated.stated = 5_000 * MIB;

    assertThat(stated.conclusion().limit().source()).isEqualTo(Conclusion.Limit.CGROUP);
    assertThat(stated.conclusion().state()).isEqualTo(State.ACT);
  }

  @Test
  void aMachineThatOtherProcessesFillIsToWatch() {
    Situation machine = new Situation(HALF_AN_HOUR, second -> 400);
    machine.limit = NO_LIMIT;
    machine.available = 100;

    assertThat(machine.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(machine.conclusion().sentence()).endsWith("most of it by other processes");
  }

  @Test
  void withoutACgroupsLimitTheMachineIsTheLimit() {
    Situation machine = new Situation(HALF_AN_HOUR, second -> 400);
    machine.limit = NO_LIMIT;

    assertThat(machine.conclusion().sentence()).contains("25 % of the machine's 7.8 GiB is used");
  }

  // ---- Near the limit

  @Test
  void aFullLimitIsToActOnUnlessTheHeapFillsIt() {
    Situation full = new Situation(HALF_AN_HOUR, second -> 960);
    Situation heap = new Situation(HALF_AN_HOUR, second -> 960);
    heap.heap = second -> 700;
    heap.mostHeap = 700;
    Situation nearly = new Situation(HALF_AN_HOUR, second -> 920);

    assertThat(full.conclusion().state()).isEqualTo(State.ACT);
    assertThat(full.conclusion().sentence()).isEqualTo("96 % of the limit of 1.0 GiB is used");
    assertThat(heap.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(heap.conclusion().sentence()).endsWith("most of it by the Java heap");
    assertThat(nearly.conclusion().state()).isEqualTo(State.WATCH);
  }

  // ---- Suspects

  @Test
  void aLeakThatGrowsIsToActOnHoweverSlowly() {
    Situation leaks = new Situation(HALF_AN_HOUR, second -> 400);
    leaks.leaks = VerdictsByHand.report(VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 7, 30 * MIB));

    assertThat(leaks.conclusion().state()).isEqualTo(State.ACT);
    assertThat(leaks.conclusion().sentence())
        .isEqualTo("B.c (Some.java:12) leaks +3.0 MiB/min, 30 MiB not accessed for 12 min or more");
    assertThat(leaks.conclusion().actions())
        .containsExactly("Save the evidence", "Open the runbook: docs/runbooks/leak-suspected.md");
  }

  /** All lost memory has leaked. Idle memory has leaked only if it is idle for long enough. */
  @Test
  void whatIsLostIsSaidToHaveLeakedSoFar() {
    Situation leaks = new Situation(HALF_AN_HOUR, second -> 400);
    leaks.leaks =
        VerdictsByHand.report(
            VerdictsByHand.lost(VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 7, 30 * MIB)));

    assertThat(leaks.conclusion().sentence())
        .isEqualTo("B.c (Some.java:12) leaks +3.0 MiB/min, 30 MiB lost so far");
  }

  @Test
  void aLeakThatDoesNotGrowIsToWatch() {
    Situation unknown = new Situation(HALF_AN_HOUR, second -> 400);
    unknown.leaks = VerdictsByHand.report(VerdictsByHand.leak("a.B.c", 30 * MIB));
    Situation stopped = new Situation(HALF_AN_HOUR, second -> 400);
    stopped.leaks = VerdictsByHand.report(VerdictsByHand.stopped("a.B.c", 30 * MIB, START));

    assertThat(unknown.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(unknown.conclusion().sentence())
        .isEqualTo(
            "B.c (Some.java:12) leaked: 30 MiB not accessed for 12 min or more; whether it grows is not known yet");
    assertThat(stopped.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(stopped.conclusion().sentence())
        .isEqualTo(
            "B.c (Some.java:12) leaked: 30 MiB not accessed for 12 min or more; it has not grown since 12:00 UTC");
  }

  @Test
  void anAcknowledgedLeakAsksForNothing() {
    Situation known = new Situation(HALF_AN_HOUR, second -> 400);
    known.leaks =
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 7, 30 * MIB).acknowledged(true));

    assertThat(known.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(known.conclusion().sentence()).endsWith("; all suspects are acknowledged");
  }

  @Test
  void unusedMemoryIsToWatchFromATwentiethOfTheLimitOn() {
    Situation small = new Situation(HALF_AN_HOUR, second -> 400);
    small.leaks = VerdictsByHand.report(unused("a.B.c", MIB, 40 * MIB));
    Situation large = new Situation(HALF_AN_HOUR, second -> 400);
    large.leaks = VerdictsByHand.report(unused("a.B.c", 0, 60 * MIB));

    assertThat(small.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(small.conclusion().sentence()).endsWith("; suspects hold 40 MiB in all");
    assertThat(large.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(large.conclusion().sentence()).isEqualTo("a.B.c keeps memory");
    assertThat(large.conclusion().actions())
        .containsExactly("Open the runbook: docs/runbooks/unused-grows.md");
    large.leaks =
        VerdictsByHand.report(VerdictsByHand.growing(Verdict.GROWING, "a.B.c", MIB, 60 * MIB));
    assertThat(large.conclusion().actions())
        .containsExactly("Open the runbook: docs/runbooks/reaches-limit.md");
  }

  /** The oldest is idle for 5 min: 25 min are left until the longest timeout could free it. */
  @Test
  void unusedMemoryThatReachesTheLimitBeforeTheLongestTimeoutIsToActOn() {
    Situation soon = new Situation(Duration.ofMinutes(5), second -> 400 + second);
    soon.leaks = VerdictsByHand.report(unused("a.B.c", 3_600 * MIB, 40 * MIB));
    Situation late = new Situation(HALF_AN_HOUR, second -> 400 + 2 * second / 60.0);
    late.leaks = VerdictsByHand.report(unused("a.B.c", 120 * MIB, 40 * MIB));

    assertThat(soon.conclusion().state()).isEqualTo(State.ACT);
    assertThat(soon.conclusion().sentence())
        .startsWith("B.c (Some.java:12) grows +60 MiB/min and is not used; too early to tell")
        .contains("limit of 1.0 GiB at 12:10 UTC");
    assertThat(late.conclusion().state()).isEqualTo(State.WATCH);
  }

  @Test
  void theFastestOfSeveralLeaksIsNamedAndTheOthersCounted() {
    Situation leaks = new Situation(HALF_AN_HOUR, second -> 400);
    leaks.leaks =
        VerdictsByHand.report(
            VerdictsByHand.leak("a.B.old", 300 * MIB),
            VerdictsByHand.verdict(Verdict.LEAK, "a.B.c", 8, 30 * MIB),
            VerdictsByHand.leak("a.B.older", 200 * MIB));

    assertThat(leaks.conclusion().sentence())
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

    assertThat(young.conclusion().state()).isEqualTo(State.WATCH);
    assertThat(young.conclusion().sentence()).isEqualTo("The previous run was OOM-killed");
    assertThat(young.conclusion().actions())
        .containsExactly("Open the runbook: docs/runbooks/after-a-kill.md");
    assertThat(old.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(act.conclusion().sentence()).startsWith("Memory grows");
    assertThat(act.conclusion().previous()).contains(killed);
  }

  @Test
  void thePreviousRunComesBeforeOtherThingsToWatch() {
    Situation both = new Situation(Duration.ofMinutes(20), second -> 920);
    both.previous = Optional.of(oomKilled(START.minus(Duration.ofMinutes(30))));

    assertThat(both.conclusion().sentence()).isEqualTo("The previous run was OOM-killed");
    assertThat(both.conclusion().actions())
        .containsExactly("Open the runbook: docs/runbooks/after-a-kill.md");
  }

  // ---- A state holds for a minute

  @Test
  void aMilderStateWaitsForAMinute() {
    Conclusions stands = new Conclusions(START);
    Conclusion act = new Situation(Duration.ofMinutes(5), second -> 400 + second).conclusion();
    Conclusion fine = new Situation(HALF_AN_HOUR, second -> 400).conclusion();
    Conclusion early = new Situation(Duration.ofSeconds(160), second -> 400).conclusion();
    long second = 1_000_000_000L;

    assertThat(stands.stands(act, 0).state()).isEqualTo(State.ACT);
    assertThat(stands.stands(fine, 30 * second).sentence())
        .isEqualTo(act.sentence() + "; as of 12:05 UTC");
    assertThat(stands.stands(act, 35 * second).sentence()).isEqualTo(act.sentence());
    assertThat(stands.stands(fine, 36 * second).sentence())
        .endsWith("limit of 1.0 GiB at 12:10 UTC; as of 12:05 UTC");
    assertThat(stands.stands(fine, 37 * second).limit()).isEqualTo(fine.limit());
    assertThat(stands.stands(act, 40 * second).since()).isEqualTo(act.since());
    assertThat(stands.stands(fine, 90 * second).state()).isEqualTo(State.ACT);
    assertThat(stands.stands(fine, 101 * second).state()).isEqualTo(State.HEALTHY);
    assertThat(stands.stands(early, 102 * second).state()).isEqualTo(State.TOO_EARLY);
    assertThat(stands.stands(fine, 103 * second).state()).isEqualTo(State.TOO_EARLY);
    assertThat(stands.stands(act, 104 * second).state()).isEqualTo(State.ACT);
    assertThat(new Conclusions(START).stands(fine, 0).state()).isEqualTo(State.HEALTHY);
  }

  @Test
  void theStartUpEndsWithTheFirstRefreshOrAfterTwoMinutes() {
    Conclusions silent = new Conclusions(START);
    Conclusions told = new Conclusions(START);
    told.starting(true, START);

    assertThat(silent.startedUp(START.plusSeconds(119))).isEmpty();
    assertThat(silent.startedUp(START.plusSeconds(121))).contains(START.plusSeconds(120));
    assertThat(told.startedUp(START.plusSeconds(300))).isEmpty();
    told.starting(false, START.plusSeconds(310));
    told.starting(true, START.plusSeconds(400));
    assertThat(told.startedUp(START.plusSeconds(500))).contains(START.plusSeconds(310));
    assertThat(new Conclusions(START).startedUp(START.plusSeconds(700))).isPresent();
  }

  // ---- Reasons

  @Test
  void whatTheAllocatorRetainsIsAReason() {
    Situation retains = new Situation(HALF_AN_HOUR, second -> 400);
    retains.allocator =
        Optional.of(
            FaceContract.allocator(0).withAdvice(List.of(new Advice("arenas", "64 arenas", "X"))));

    assertThat(retains.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(text(retains.conclusion(), "retained"))
        .isEqualTo("The allocator retains 50.0 MiB: 64 arenas");
  }

  @Test
  void callsThatAreMissedAreAReason() {
    Situation attached = new Situation(HALF_AN_HOUR, second -> 400);
    attached.self = FaceContract.attachedReport();

    assertThat(text(attached.conclusion(), "counting"))
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
                524_288, 1_000, 250, 3, 11, 0.01, 1, 13_000_000, SelfReport.SlotPages.NONE));

    assertThat(few.conclusion().findings()).noneMatch(found -> found.topic().equals("missed"));
    assertThat(many.conclusion().state()).isEqualTo(State.HEALTHY);
    assertThat(many.conclusion().sentence())
        .endsWith(
            "; 25 % of the samples have no call site, because the table of call sites is full");
    assertThat(text(many.conclusion(), "missed")).endsWith("full: a leak there has no name");
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

  // ---- Situations

  private static SiteVerdict growing(String site, double perHour, double live) {
    return VerdictsByHand.growing(Verdict.GROWING, site, perHour, live);
  }

  private static SiteVerdict unused(String site, double perHour, double bytes) {
    return VerdictsByHand.growing(Verdict.UNUSED, site, perHour, bytes);
  }

  private static PreviousRun oomKilled(Instant started) {
    return new PreviousRun(
        "/box.previous",
        7,
        started,
        START.minusSeconds(5),
        PreviousRun.OOM,
        true,
        "The previous run was OOM-killed",
        "");
  }

  private static String text(Conclusion conclusion, String topic) {
    return conclusion.findings().stream()
        .filter(finding -> finding.topic().equals(topic))
        .map(Finding::text)
        .findFirst()
        .orElseThrow();
  }

  /** What a process was until it had a certain age, by what it uses in each second. */
  private static final class Situation {
    private final Duration age;
    private final LongToDoubleFunction used;
    private double limit = 1_000;
    private double available = 6_000;
    private double stated = NO_LIMIT;
    private LongToDoubleFunction heap = second -> 50;
    private LongToDoubleFunction pageCache = second -> 0;
    private LongToDoubleFunction live = second -> UNKNOWN;
    private double mostHeap = 50;
    private Status status = Status.counting();
    private SelfReport self = FaceContract.selfReport();
    private LeakReport leaks = VerdictsByHand.report();
    private Optional<AllocatorStatistics> allocator = Optional.empty();
    private Optional<PreviousRun> previous = Optional.empty();

    Situation(Duration age, LongToDoubleFunction used) {
      this.age = age;
      this.used = used;
    }

    Conclusion conclusion() {
      Snapshot snapshot =
          new Snapshot(
                  START.plus(age),
                  status,
                  status.active() ? Optional.of(FaceContract.counters(true, 0)) : Optional.empty(),
                  self)
              .with(memory(age.toSeconds()))
              .with(allocator);
      Conclusions start = new Conclusions(START);
      return ConclusionRules.conclusion(
          new ConclusionRules.Known(
              snapshot,
              history(),
              moments(),
              leaks,
              LeakOptions.defaults(),
              previous,
              START,
              start.startedUp(START.plus(age))));
    }

    private List<HistoryPoint> history() {
      List<HistoryPoint> points = new ArrayList<>();
      for (long second = 0; second <= age.toSeconds(); second += 5) {
        double bytes = used.applyAsDouble(second) * MIB;
        points.add(
            new HistoryPoint(
                START.plusSeconds(second),
                live.applyAsDouble(second) * MIB,
                UNKNOWN,
                0,
                0,
                0,
                bytes + pageCache.applyAsDouble(second) * MIB,
                bytes + pageCache.applyAsDouble(second) * MIB,
                bytes + pageCache.applyAsDouble(second) * MIB,
                bytes,
                bytes,
                limit * MIB));
      }
      return points;
    }

    private List<MemoryMoment> moments() {
      List<MemoryMoment> moments = new ArrayList<>();
      for (long second = 0; second <= age.toSeconds(); second += 15) {
        moments.add(
            new MemoryMoment(
                START.plusSeconds(second), resident(second).parts(), Map.of(), limit * MIB));
      }
      return moments;
    }

    private ResidentMemory resident(long second) {
      return new ResidentMemory(
          START.plusSeconds(second),
          (long) (used.applyAsDouble(second) * MIB),
          Map.of(
              ResidentPart.JAVA_HEAP, (long) (heap.applyAsDouble(second) * MIB),
              ResidentPart.MAPPED_FILES, (long) (pageCache.applyAsDouble(second) * MIB),
              ResidentPart.MALLOC_RETAINED, (long) (50 * MIB)),
          0,
          0,
          false,
          10,
          0.01);
    }

    private ProcessMemory memory(long second) {
      double bytes = used.applyAsDouble(second) * MIB;
      double files = pageCache.applyAsDouble(second) * MIB;
      CgroupMemory cgroup =
          new CgroupMemory(
              2,
              (long) (bytes + files),
              Map.of(ChargedPart.PAGE_CACHE, (long) files),
              limit * MIB,
              UNKNOWN,
              bytes + files,
              UNKNOWN,
              Map.of(),
              Optional.empty());
      MemoryBudget budget =
          new MemoryBudget(
              List.of(
                  new MemoryBudget.Line("java-heap", (long) (mostHeap * MIB), "configured", "")),
              100 * MIB,
              limit * MIB,
              "fits");
      return new ProcessMemory(
          bytes + files,
          files,
          Optional.of(resident(second)),
          Optional.of(cgroup),
          Optional.of(budget),
          8_000 * MIB,
          available * MIB,
          stated);
    }
  }
}
