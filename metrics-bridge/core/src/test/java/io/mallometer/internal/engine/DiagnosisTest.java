package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Finding;
import io.mallometer.model.Diagnosis.Severity;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Observation;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Test;

/** One sentence for each situation, and the reasons behind it. Worked examples in MiB. */
class DiagnosisTest {

  private static final double MIB = 1 << 20;
  private static final double UNKNOWN = Double.NaN;
  private static final double NO_LIMIT = Double.NaN;
  private static final Duration LEAST_OBSERVATION = Duration.ofMinutes(10);
  private static final LeakReport NO_LEAKS = LeakReport.none(Instant.EPOCH, "");
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void aSteadyProcessIsFine() {
    Diagnosis diagnosis = diagnosis(memory(400, 1000), steady());

    assertThat(diagnosis.severity()).isEqualTo(Severity.FINE);
    assertThat(diagnosis.sentence()).isEqualTo("Native memory is fine");
    assertThat(text(diagnosis, "limit")).isEqualTo("40 % of the limit of 1.0 GiB is in use");
    assertThat(text(diagnosis, "growth")).isEqualTo("Memory in use has not grown for 28 min");
  }

  @Test
  void aYoungProcessIsFineSoFarWhateverItTakesToWarmUp() {
    Diagnosis diagnosis =
        diagnosis(memory(400, 1000), history(Duration.ofMinutes(4), second -> 50 + second));

    assertThat(diagnosis.severity()).isEqualTo(Severity.FINE);
    assertThat(diagnosis.sentence())
        .isEqualTo("Native memory is fine so far; whether it grows shows after 5 minutes");
  }

  @Test
  void whatCannotBeToldIsNotCalledFineAmongTheReasons() {
    Diagnosis diagnosis =
        diagnosis(memory(400, NO_LIMIT), history(Duration.ofMinutes(4), second -> 50));

    assertThat(diagnosis.severity()).isEqualTo(Severity.FINE);
    assertThat(diagnosis.findings().stream().filter(one -> one.severity() == Severity.UNKNOWN))
        .extracting(Finding::topic)
        .containsExactly("limit", "leaks", "growth");
  }

  /** 60 MiB in half an hour, 600 MiB left: five hours. */
  @Test
  void growthTellsWhenTheLimitIsReached() {
    Diagnosis diagnosis = diagnosis(memory(400, 1000), growing(2));

    assertThat(diagnosis.severity()).isEqualTo(Severity.ALARM);
    assertThat(diagnosis.sentence())
        .isEqualTo(
            "Native memory in use grows by 120 MiB an hour and will reach the limit in about 5 h");
    assertThat(diagnosis.findings().get(0).topic()).isEqualTo("growth");
    assertThat(diagnosis.findings().get(0).text()).contains("seen over 28 min");
  }

  @Test
  void growthThatReachesTheLimitInWeeksOrNeverIsNoAlarm() {
    assertThat(diagnosis(memory(400, 100_000), growing(2)).severity())
        .isEqualTo(Severity.ATTENTION);
    assertThat(diagnosis(memory(400, NO_LIMIT), growing(2)))
        .satisfies(found -> assertThat(found.severity()).isEqualTo(Severity.ATTENTION))
        .satisfies(
            found ->
                assertThat(found.sentence())
                    .isEqualTo("Native memory in use grows by 120 MiB an hour"));
  }

  @Test
  void aLeakIsNamedBeforeTheGrowthThatItMakes() {
    Diagnosis limited = diagnosis(memory(400, 1000), growing(2), leaks(leak("a.B.c", UNKNOWN)));
    Diagnosis alone = diagnosis(memory(400, 1000), steady(), leaks(leak("a.B.c", 25_000)));
    Diagnosis unlimited = diagnosis(memory(400, NO_LIMIT), steady(), leaks(leak("a.B.c", UNKNOWN)));

    assertThat(limited.severity()).isEqualTo(Severity.ALARM);
    assertThat(limited.sentence()).isEqualTo("A leak in a.B.c will reach the limit in about 5 h");
    assertThat(text(limited, "leaks")).isEqualTo("a.B.c keeps memory");
    assertThat(text(limited, "growth")).startsWith("Native memory in use grows by 120 MiB an hour");
    assertThat(alone.sentence()).isEqualTo("A leak in a.B.c will reach the limit in about 7 h");
    assertThat(unlimited.severity()).isEqualTo(Severity.ATTENTION);
    assertThat(unlimited.sentence()).isEqualTo("A leak in a.B.c keeps 30.0 MiB");
  }

  @Test
  void whatElseGrowsIsNotTheLeaks() {
    Diagnosis both = diagnosis(memory(400, 1000), growing(2), leaks(leak("a.B.c", 25_000)));

    assertThat(both.sentence()).isEqualTo("A leak in a.B.c will reach the limit in about 7 h");
  }

  @Test
  void theWorstOfSeveralLeaksIsNamedAndTheOthersCounted() {
    Diagnosis diagnosis =
        diagnosis(
            memory(400, NO_LIMIT),
            steady(),
            leaks(leak("a.B.c", UNKNOWN), leak("a.B.d", UNKNOWN), leak("a.B.e", UNKNOWN)));

    assertThat(diagnosis.sentence())
        .isEqualTo("A leak in a.B.c keeps 30.0 MiB, and 2 more code sites leak");
  }

  @Test
  void aLeakThatSomebodyKnowsAboutIsNone() {
    Diagnosis diagnosis =
        diagnosis(memory(400, 1000), steady(), leaks(leak("a.B.c", UNKNOWN).acknowledged(true)));

    assertThat(diagnosis.severity()).isEqualTo(Severity.FINE);
  }

  @Test
  void whyUseIsNotObservedIsAReasonAndNotTheAnswer() {
    Diagnosis diagnosis =
        diagnosis(memory(400, 1000), steady(), LeakReport.none(START, "MALLOMETER_LEAKS is off"));

    assertThat(diagnosis.sentence()).isEqualTo("Native memory is fine");
    assertThat(text(diagnosis, "leaks"))
        .isEqualTo("Whether objects are used is not observed: MALLOMETER_LEAKS is off");
  }

  private static LeakReport leaks(SiteVerdict... verdicts) {
    return new LeakReport(START, Observation.off(""), List.of(verdicts), "");
  }

  private static SiteVerdict leak(String site, double secondsToLimit) {
    return VerdictsByHand.leak(site, 30 * MIB, secondsToLimit);
  }

  @Test
  void whatSwingsOrLevelsOffDoesNotGrow() {
    LongToDoubleFunction swings = second -> 100 + (second / 15 % 2) * 40;
    LongToDoubleFunction levelsOff = second -> 100 + Math.min(60, second / 15.0);
    LongToDoubleFunction steps = second -> second < 900 ? 100 : 160;

    for (LongToDoubleFunction one : List.of(swings, levelsOff, steps)) {
      assertThat(diagnosis(memory(400, 1000), history(Duration.ofMinutes(30), one)).severity())
          .isEqualTo(Severity.FINE);
    }
  }

  /** A compiler takes and returns memory while the leak goes on. */
  @Test
  void growthIsSeenThroughNoise() {
    Diagnosis diagnosis =
        diagnosis(
            memory(400, 1000),
            history(
                Duration.ofMinutes(30),
                second -> 100 + second / 15.0 + (second / 45 % 7 == 0 ? 25 : 0)));

    assertThat(diagnosis.sentence()).startsWith("Native memory in use grows by 2");
  }

  @Test
  void nearTheLimitComesFirst() {
    Diagnosis near = diagnosis(memory(880, 1000), steady());
    Diagnosis at = diagnosis(memory(960, 1000), growing(2));

    assertThat(near.severity()).isEqualTo(Severity.ATTENTION);
    assertThat(near.sentence())
        .isEqualTo("Memory is near its limit: 88 % of the limit of 1.0 GiB is in use");
    assertThat(at.severity()).isEqualTo(Severity.ALARM);
    assertThat(at.sentence()).startsWith("Memory is near its limit: 96 %");
    assertThat(at.findings()).extracting(Finding::topic).startsWith("limit", "growth");
  }

  @Test
  void whatTheAllocatorKeepsIsToldWhenSomethingCanBeDone() {
    Snapshot keeping =
        snapshot(Status.counting(), memory(400, 1000))
            .with(
                Optional.of(
                    allocator().withAdvice(List.of(new Advice("arenas", "64 arenas", "X")))));
    Snapshot fine =
        snapshot(Status.counting(), memory(400, 1000))
            .with(Optional.of(allocator().withAdvice(List.of())));

    Diagnosis diagnosis = diagnosis(keeping, steady(), NO_LEAKS);
    assertThat(diagnosis.severity()).isEqualTo(Severity.ATTENTION);
    assertThat(diagnosis.sentence()).isEqualTo("50.0 MiB is kept by glibc arenas, not used");
    assertThat(text(diagnosis, "retained")).isEqualTo("64 arenas");
    assertThat(text(diagnosis(fine, steady(), NO_LEAKS), "retained"))
        .isEqualTo("The allocator keeps 50.0 MiB that is free, too little to act on");
  }

  @Test
  void aBudgetThatDoesNotFitIsTold() {
    ProcessMemory memory = memory(400, 1000);
    ProcessMemory tooMuch =
        new ProcessMemory(
            memory.residentBytes(),
            memory.resident(),
            memory.cgroup(),
            Optional.of(
                new MemoryBudget(List.of(), 1200 * MIB, 1000 * MIB, "too small by 200 MiB")));

    Diagnosis diagnosis = diagnosis(tooMuch, steady());

    assertThat(diagnosis.severity()).isEqualTo(Severity.ATTENTION);
    assertThat(diagnosis.sentence()).isEqualTo("Too small by 200 MiB");
  }

  @Test
  void withoutTheLibraryItSaysThatNothingIsCountedAndWhy() {
    Diagnosis diagnosis =
        diagnosis(
            snapshot(
                new Status(State.UNAVAILABLE, "the library is not preloaded", ""),
                memory(400, 1000)),
            List.of(),
            NO_LEAKS);

    assertThat(diagnosis.severity()).isEqualTo(Severity.UNKNOWN);
    assertThat(diagnosis.sentence()).isEqualTo("Native allocations are not counted");
    assertThat(text(diagnosis, "counting")).endsWith("the library is not preloaded");
    assertThat(diagnosis.findings()).extracting(Finding::topic).doesNotContain("growth");
  }

  @Test
  void withoutTheLibraryALimitThatIsNearIsStillSeen() {
    Diagnosis diagnosis =
        diagnosis(
            snapshot(new Status(State.UNAVAILABLE, "", ""), memory(960, 1000)),
            List.of(),
            NO_LEAKS);

    assertThat(diagnosis.severity()).isEqualTo(Severity.ALARM);
  }

  /** Live memory is known from the attach on: what came before it is no growth. */
  @Test
  void anAttachIsNoGrowth() {
    List<HistoryPoint> attached =
        history(Duration.ofMinutes(20), second -> second < 600 ? second / 10.0 : 400);
    Snapshot snapshot = attached(new Baseline(400 * MIB, MIB), START.plusSeconds(600));

    assertThat(text(diagnosis(snapshot, attached, NO_LEAKS), "growth"))
        .isEqualTo("Memory in use has not grown for 10 min");
  }

  /** A process that frees 200 MiB of older memory and then grows by 2 MiB a minute. */
  @Test
  void growthShowsAlsoWhereNobodyKnowsWhatWasInUseBeforeAnAttach() {
    Snapshot snapshot = attached(new Baseline(UNKNOWN, 300 * MIB), START);
    List<HistoryPoint> growing = netOnly(Duration.ofMinutes(30), second -> 2 * second / 60.0 - 200);
    List<HistoryPoint> steady = netOnly(Duration.ofMinutes(30), second -> -200);

    assertThat(text(diagnosis(snapshot, growing, NO_LEAKS), "growth"))
        .isEqualTo(
            "Native memory in use grows by 120 MiB an hour, seen over 28 min; warming up is left"
                + " out");
    assertThat(diagnosis(snapshot, growing, NO_LEAKS).sentence())
        .isEqualTo(
            "Native memory in use grows by 120 MiB an hour and will reach the limit in about 5 h");
    assertThat(text(diagnosis(snapshot, steady, NO_LEAKS), "growth"))
        .isEqualTo("Memory in use has not grown for 28 min");
  }

  @Test
  void anObjectThatIsAttachedToCountsWithItsSizeWord() {
    NativeCounters counters = FaceContract.attachedCounters(new Baseline(UNKNOWN, 300 * MIB));
    double size = 8.0 * (counters.allocations() - counters.frees());

    assertThat(HistoryPoint.of(attached(new Baseline(UNKNOWN, 300 * MIB), START)).netBytes())
        .isEqualTo(-300_000 + size);
    assertThat(HistoryPoint.of(snapshot(Status.counting(), ProcessMemory.unknown())).netBytes())
        .isEqualTo(
            HistoryPoint.of(snapshot(Status.counting(), ProcessMemory.unknown())).liveBytes());
  }

  @Test
  void callsThatAreMissedAreNamedAsAReason() {
    assertThat(
            text(diagnosis(attached(new Baseline(MIB, 0), START), steady(), NO_LEAKS), "counting"))
        .isEqualTo(
            "Not every native allocation is counted: 2 pointers to malloc could not be changed,"
                + " 3 calls of malloc are not seen");
  }

  // ---- Situations

  private static Snapshot attached(Baseline baseline, Instant since) {
    SelfReport self = FaceContract.attachedReport();
    return new Snapshot(
            START,
            Status.counting(SelfReport.ATTACHED),
            Optional.of(FaceContract.attachedCounters(baseline)),
            new SelfReport(
                self.build(),
                self.allocator(),
                self.mode(),
                Optional.of(since),
                self.attachment(),
                self.byteUnit(),
                self.footprintBytes(),
                self.overheadSeconds(),
                self.pollSeconds(),
                self.threadsWithoutBlock(),
                self.hugeThresholdBytes(),
                self.sampling(),
                self.missing(),
                self.remark()))
        .with(memory(400, 1000));
  }

  private static Diagnosis diagnosis(ProcessMemory memory, List<HistoryPoint> history) {
    return diagnosis(memory, history, NO_LEAKS);
  }

  private static Diagnosis diagnosis(
      ProcessMemory memory, List<HistoryPoint> history, LeakReport leaks) {
    return diagnosis(snapshot(Status.counting(), memory), history, leaks);
  }

  private static Snapshot snapshot(Status status, ProcessMemory memory) {
    return new Snapshot(
            START,
            status,
            status.active() ? Optional.of(FaceContract.counters(true, 0)) : Optional.empty(),
            FaceContract.selfReport())
        .with(memory);
  }

  private static ProcessMemory memory(double used, double limit) {
    return new ProcessMemory(
        300 * MIB,
        Optional.of(
            new ResidentMemory(
                START,
                (long) (300 * MIB),
                Map.of(
                    ResidentPart.MALLOC_RETAINED, (long) (50 * MIB),
                    ResidentPart.UNEXPLAINED, (long) MIB),
                0,
                0,
                false,
                10,
                0.01)),
        Optional.of(
            new CgroupMemory(
                2,
                (long) (1200 * MIB),
                Map.of(),
                limit * MIB,
                Double.NaN,
                used * MIB,
                Double.NaN,
                Map.of(),
                Optional.empty())),
        Optional.empty());
  }

  private static AllocatorStatistics allocator() {
    return FaceContract.allocator(0);
  }

  private static List<HistoryPoint> steady() {
    return history(Duration.ofMinutes(30), second -> 100);
  }

  private static List<HistoryPoint> growing(double mebibytesAMinute) {
    return history(Duration.ofMinutes(30), second -> 100 + mebibytesAMinute * second / 60);
  }

  /** Live memory by seconds, every 15 s. */
  private static List<HistoryPoint> history(Duration length, LongToDoubleFunction mebibytes) {
    return history(length, mebibytes, mebibytes);
  }

  /** Net memory by seconds, of a process that was attached to where the baseline was not read. */
  private static List<HistoryPoint> netOnly(Duration length, LongToDoubleFunction net) {
    return history(length, second -> UNKNOWN, net);
  }

  private static List<HistoryPoint> history(
      Duration length, LongToDoubleFunction live, LongToDoubleFunction net) {
    List<HistoryPoint> points = new ArrayList<>();
    for (long second = 0; second <= length.toSeconds(); second += 15) {
      points.add(
          new HistoryPoint(
              START.plusSeconds(second),
              live.applyAsDouble(second) * MIB,
              net.applyAsDouble(second) * MIB,
              0,
              0,
              0,
              0,
              0,
              0,
              0));
    }
    return points;
  }

  private static String text(Diagnosis diagnosis, String topic) {
    return diagnosis.findings().stream()
        .filter(finding -> finding.topic().equals(topic))
        .map(Finding::text)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void noLeakIsSaidOnlyAfterEnoughObservation() {
    LeakReport none = VerdictsByHand.report();
    Snapshot fine = snapshot(Status.counting(), ProcessMemory.unknown());

    assertThat(text(DiagnosisRules.diagnosis(fine, steady(), none, LEAST_OBSERVATION), "leaks"))
        .startsWith("No code keeps more and more");
    assertThat(text(DiagnosisRules.diagnosis(fine, steady(), none, Duration.ofHours(1)), "leaks"))
        .isEqualTo("Not observed for long enough to tell a leak");
  }

  @Test
  void noLeakIsSaidWhileNoMoreObjectsAreObserved() {
    LeakReport paused = VerdictsByHand.pausedReport("the process locks its memory");
    Snapshot fine = snapshot(Status.counting(), ProcessMemory.unknown());

    assertThat(text(DiagnosisRules.diagnosis(fine, steady(), paused, LEAST_OBSERVATION), "leaks"))
        .isEqualTo("Whether objects are used is not observed: the process locks its memory");
  }

  private static Diagnosis diagnosis(
      Snapshot snapshot, List<HistoryPoint> history, LeakReport leaks) {
    return DiagnosisRules.diagnosis(snapshot, history, leaks, LEAST_OBSERVATION);
  }
}
