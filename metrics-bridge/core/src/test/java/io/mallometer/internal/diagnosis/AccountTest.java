package io.mallometer.internal.diagnosis;

import static io.mallometer.internal.diagnosis.Situation.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.FaceContract;
import io.mallometer.VerdictsByHand;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.State;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the diagnosis says of programs of which the truth is known, at their tenth minute. */
class AccountTest {

  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
  private static final double NO_LIMIT = Double.NaN;

  @Test
  void rowsAddUpToTheTotal() {
    Situation all = new Situation(TEN_MINUTES, second -> 400 + second / 2.0);
    all.heap = second -> 50 + second / 10.0;
    all.live = second -> 100 + second / 5.0;
    all.with("a.B.pack", 40, second -> second / 8.0);
    all.parts.put(ResidentPart.MALLOC_LIVE, second -> 100 + second / 5.0);
    all.parts.put(ResidentPart.MALLOC_RETAINED, second -> 60 - second / 20.0);

    Account account = all.diagnosis().account().orElseThrow();

    assertThat(account.rows().stream().mapToDouble(Row::growthBytes).sum())
        .isCloseTo(account.total().growthBytes(), within(1.0));
    double minutes = account.total().growthBytes() / (30 * MIB);
    assertThat(growth(account, Kind.SITE)).isCloseTo(7.5 * MIB * minutes, within(MIB / 10));
    assertThat(growth(account, Kind.SAMPLING)).isCloseTo(4.5 * MIB * minutes, within(MIB / 10));
    assertThat(growth(account, Kind.RETAINED)).isCloseTo(-3 * MIB * minutes, within(MIB / 10));
    assertThat(growth(account, Kind.HEAP)).isCloseTo(6 * MIB * minutes, within(MIB / 10));
    assertThat(growth(account, Kind.UNATTRIBUTED)).isCloseTo(15 * MIB * minutes, within(MIB / 10));
    assertThat(account.rows().get(account.rows().size() - 1).kind()).isEqualTo(Kind.RETAINED);
  }

  private static double growth(Account account, Kind kind) {
    return account.rows().stream()
        .filter(row -> row.kind() == kind)
        .mapToDouble(Row::growthBytes)
        .sum();
  }

  /** Nine blocks of 60 MiB: their bytes are counted, and no number of samples is needed. */
  @Test
  void aFewLargeObjectsAreNamedWithTheirLine() {
    Situation tensors = new Situation(TEN_MINUTES, second -> 300 + 60.0 * (second / 60));
    tensors.limit = 2_000;
    tensors.live = second -> 100 + 60.0 * (second / 60);
    tensors.parts.put(ResidentPart.MALLOC_LIVE, second -> 100 + 60.0 * (second / 60));
    tensors.with("a.Model.run", 0, second -> 60.0 * (second / 60));

    Diagnosis diagnosis = tensors.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.ACT);
    assertThat(diagnosis.sentence()).contains("Model.run (Some.java:12) adds 60 MiB/min");
    assertShort(diagnosis);
  }

  @Test
  void whatMallocRetainsIsNamedWithItsArenasAndTheRemedy() {
    Situation bursts = new Situation(TEN_MINUTES, second -> 200 + second / 5.0);
    bursts.limit = 512;
    bursts.live = second -> 60;
    bursts.parts.put(ResidentPart.MALLOC_LIVE, second -> 60);
    bursts.parts.put(ResidentPart.MALLOC_RETAINED, second -> 10 + second / 5.0);
    bursts.allocator = Optional.of(FaceContract.allocator(0));

    Diagnosis diagnosis = bursts.diagnosis();

    assertThat(diagnosis.sentence())
        .startsWith("OOM kill expected at ")
        .contains("Malloc retains 12 MiB/min more in ", " arenas");
    assertThat(diagnosis.actions()).anyMatch(action -> action.startsWith("Trim malloc, "));
    assertThat(diagnosis.actions()).contains("Open the runbook: docs/runbooks/retained.md");
    assertShort(diagnosis);
  }

  @Test
  void threadsThatNeverEndAreCountedAndWhoStartsThemIsNamed() {
    Situation threads = new Situation(TEN_MINUTES, second -> 150 + second / 4.0);
    threads.limit = NO_LIMIT;
    threads.threads = second -> 20 + 5 * second;
    threads.live = second -> 60 + second / 60.0;
    threads.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + second / 60.0);
    threads.parts.put(ResidentPart.THREAD_STACKS, second -> 2 + second / 4.0);
    threads.sites.put(
        "a.RepairTask.execute",
        new Situation.Site(
            second -> second / 60.0,
            5,
            List.of(
                StackFrame.ofJava("java.lang.Thread", "start0", "Thread.java", 0),
                StackFrame.ofJava("java.lang.Thread", "start", "Thread.java", 1),
                StackFrame.ofJava("a.RepairTask", "execute", "RepairTask.java", 21))));

    Diagnosis diagnosis = threads.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence())
        .endsWith(
            "Thread stacks add 15 MiB/min (300 threads/min) started by RepairTask.execute"
                + " (RepairTask.java:21)");
    assertShort(diagnosis);
  }

  /** The arenas of many threads retain more than the stacks take. */
  @Test
  void aRowThatIsNotNeededGivesWayToAShortSentence() {
    Situation threads = new Situation(TEN_MINUTES, second -> 150 + second / 2.0);
    threads.limit = NO_LIMIT;
    threads.threads = second -> 20 + 5 * second;
    threads.live = second -> 60;
    threads.allocator = Optional.of(FaceContract.allocator(0));
    threads.parts.put(ResidentPart.MALLOC_LIVE, second -> 60);
    threads.parts.put(ResidentPart.MALLOC_RETAINED, second -> 10 + second / 3.9);
    threads.parts.put(ResidentPart.THREAD_STACKS, second -> 2 + second / 4.1);
    threads.sites.put(
        "a.RepairTask.execute",
        new Situation.Site(
            second -> 0,
            5,
            List.of(
                StackFrame.ofJava("java.lang.Thread", "start", "Thread.java", 1),
                StackFrame.ofJava("a.RepairTask", "execute", "RepairTask.java", 21))));

    assertThat(threads.diagnosis().sentence()).contains("300 threads/min");
    assertShort(threads.diagnosis());
  }

  @Test
  void theHeapAndTheClassesAMinuteAreNamedTogether() {
    Situation scripts = new Situation(TEN_MINUTES, second -> 200 + 17 * second / 60.0);
    scripts.heap = second -> 50 + 10 * second / 60.0;
    scripts.mostHeap = 900;
    scripts.classes = second -> 5_000 + 10 * second;
    scripts.parts.put(ResidentPart.METASPACE, second -> 40 + 7 * second / 60.0);

    Diagnosis diagnosis = scripts.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence())
        .endsWith("Java heap adds 10 MiB/min, metaspace adds 7.0 MiB/min (600 classes/min)");
    assertThat(diagnosis.account().orElseThrow().count("classes").orElseThrow().perMinute())
        .isCloseTo(600, within(1.0));
    assertShort(diagnosis);
  }

  @Test
  void anonymousMemoryOutsideMallocIsNoUnknownCause() {
    Situation database = new Situation(TEN_MINUTES, second -> 200 + 43 * second / 60.0);
    database.parts.put(ResidentPart.UNEXPLAINED, second -> 43 * second / 60.0);

    Diagnosis diagnosis = database.diagnosis();

    assertThat(diagnosis.sentence())
        .endsWith("Anonymous memory outside malloc adds 43 MiB/min")
        .doesNotContain("cause not known");
    assertThat(diagnosis.actions()).contains("Open the runbook: docs/runbooks/unexplained.md");
  }

  @Test
  void pagesOfAFileThatIsReadAreHealthyAndNamed() {
    Situation reads = new Situation(TEN_MINUTES, second -> 200);
    reads.pageCache = second -> 50 + second / 2.0;
    reads.files.put("data.mdb", second -> 50 + second / 2.0);

    Diagnosis diagnosis = reads.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.HEALTHY);
    assertThat(diagnosis.sentence()).contains("pages of data.mdb grew by", "the kernel can drop");
    assertThat(diagnosis.account().orElseThrow().total().growthBytes()).isZero();
  }

  /** The buffer doubles at minutes 1, 2, 4 and 8. */
  @Test
  void aBufferThatReallocDoublesIsToWatchWithItsExactBytes() {
    Situation doubles = new Situation(TEN_MINUTES, second -> 100 + doubled(second));
    doubles.limit = NO_LIMIT;
    doubles.live = second -> 60 + doubled(second);
    doubles.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + doubled(second));
    doubles.with("a.Log.append", 0, AccountTest::doubled);

    Diagnosis diagnosis = doubles.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence()).startsWith("Log.append (Some.java:12) adds ");
    assertShort(diagnosis);
  }

  /** 100 KiB a second: it doubles at 164 and 328 s. A table that is loaded in one step does not. */
  @Test
  void twoDoublingsAreEnoughAndOneStepIsNot() {
    for (int second = 390; second <= 600; second += 15) {
      Situation doubles = new Situation(Duration.ofSeconds(second), at -> 100 + buffer(at));
      doubles.limit = NO_LIMIT;
      doubles.live = at -> 60 + buffer(at);
      doubles.parts.put(ResidentPart.MALLOC_LIVE, doubles.live);
      doubles.with("a.Log.append", 0, AccountTest::buffer);
      Situation step = new Situation(Duration.ofSeconds(second), at -> at < 300 ? 100 : 130);
      step.limit = NO_LIMIT;
      step.live = at -> at < 300 ? 60 : 90;
      step.parts.put(ResidentPart.MALLOC_LIVE, step.live);
      step.with("a.Table.load", 0, at -> at < 300 ? 0 : 30);

      assertThat(doubles.diagnosis().state()).as("%d s", second).isEqualTo(State.WATCH);
      assertThat(step.diagnosis().state()).as("%d s", second).isNotEqualTo(State.WATCH);
    }
  }

  private static double buffer(long second) {
    return second < 164 ? 16 : second < 328 ? 32 : 64;
  }

  private static double doubled(long second) {
    return second < 60 ? 2 : second < 120 ? 4 : second < 240 ? 8 : second < 480 ? 16 : 32;
  }

  @Test
  void twoLeaksAreNamedEachWithItsRate() {
    Situation leaks = new Situation(TEN_MINUTES, second -> 200 + 44.6 * second / 60);
    leaks.limit = NO_LIMIT;
    leaks.live = second -> 60 + 44.6 * second / 60;
    leaks.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + 44.6 * second / 60);
    leaks.with("a.Jna.call", 40, second -> 6.6 * second / 60);
    leaks.with("a.Pack.deflate", 200, second -> 38.0 * second / 60);
    leaks.leaks =
        VerdictsByHand.report(
            VerdictsByHand.lost(VerdictsByHand.verdict(Verdict.LEAK, "a.Jna.call", 7, 60 * MIB)),
            VerdictsByHand.growing(Verdict.UNUSED, "a.Pack.deflate", 38 * 60 * MIB, 300 * MIB));

    Diagnosis diagnosis = leaks.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.ACT);
    assertThat(diagnosis.sentence())
        .endsWith(
            "Pack.deflate (Some.java:12) adds 38 MiB/min, Jna.call (Some.java:12) leaks 6.6 MiB/min");
    assertShort(diagnosis);
  }

  /** The heap warms up by 8 MiB a minute to its 64 MiB, and something else leaks 2 MiB a minute. */
  @Test
  void aHeapOnItsWayToItsMaximumIsNotTheCauseOfAForecast() {
    Situation warming = new Situation(TEN_MINUTES, second -> 110 + second / 6.0);
    warming.limit = 512;
    warming.heap = second -> 10 + 0.8 * second / 6.0;
    warming.mostHeap = 128;
    warming.parts.put(ResidentPart.MALLOC_RETAINED, second -> 10 + 0.2 * second / 6.0);
    warming.live = second -> 0;

    Diagnosis diagnosis = warming.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence())
        .startsWith("OOM kill expected in about 2 h. Malloc retains 2.0 MiB/min more");
    // The limit leaves 302 MiB, of which the heap takes 38 MiB.
    assertThat(diagnosis.limit().seconds()).isCloseTo(264 / 2.0 * 60, within(200.0));
  }

  /** Half a GiB of room for what is not the heap, which does not grow. */
  @Test
  void aHeapOnItsWayToItsMaximumIsNoForecast() {
    Situation flink = new Situation(TEN_MINUTES, second -> 500 + second * 0.8 + second % 3);
    flink.limit = 2_048;
    flink.heap = second -> 100 + second * 0.8;
    flink.mostHeap = 1_024;

    Diagnosis diagnosis = flink.diagnosis();

    assertThat(diagnosis.state()).isIn(State.HEALTHY, State.TOO_EARLY);
    assertThat(diagnosis.limit().seconds()).isNaN();
  }

  /** One Inflater in three is kept; the heap is flat. */
  @Test
  void smallUnusedGrowthIsNeverHealthyWhereverTheLimitIs() {
    Situation inflaters = new Situation(TEN_MINUTES, second -> 266 + 4.8 * second / 60);
    inflaters.limit = NO_LIMIT;
    inflaters.live = second -> 60 + 4.8 * second / 60;
    inflaters.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + 4.8 * second / 60);
    inflaters.with("a.Archive.read", 88, second -> 4.8 * second / 60);
    inflaters.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.UNUSED, "a.Archive.read", 4.8 * 60 * MIB, 20 * MIB));

    Diagnosis diagnosis = inflaters.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence()).contains("Archive.read (Some.java:12) adds 4.8 MiB/min");
    assertShort(diagnosis);
  }

  /** Direct buffers that wait for a collection: 104 to 38 MiB, again and again. */
  @Test
  void aSawtoothIsDescribedByItsTroughsAndNotExtrapolated() {
    for (int period : new int[] {60, 120, 200, 300}) {
      for (int second = 120 + 5 * period / 2; second <= 1_800; second += 15) {
        Situation buffers =
            new Situation(
                Duration.ofSeconds(second), at -> 200 + 38 + 66.0 * (at % period) / period);
        buffers.limit = 512;

        Diagnosis diagnosis = buffers.diagnosis();

        assertThat(diagnosis.limit().seconds()).as("%d s at %d s", period, second).isNaN();
        assertThat(diagnosis.state())
            .as("%d s at %d s", period, second)
            .isIn(State.HEALTHY, State.TOO_EARLY);
      }
    }
  }

  /** The troughs rise by 4 MiB a minute. */
  @Test
  void aSawtoothWhoseTroughsRiseIsForecastFromThem() {
    Situation rising =
        new Situation(Duration.ofMinutes(40), at -> 100 + at / 15.0 + 120.0 * (at % 180) / 180);
    rising.limit = 512;

    Diagnosis diagnosis = rising.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence()).contains("4.0 MiB/min");
  }

  @Test
  void aWideIntervalIsTooEarlyAndNotHealthy() {
    Situation noisy =
        new Situation(
            Duration.ofMinutes(6), second -> 400 + second / 60.0 + 8 * Math.sin(second / 20.0));
    noisy.limit = 450;

    assertThat(noisy.diagnosis().state()).isEqualTo(State.TOO_EARLY);
    assertThat(noisy.diagnosis().sentence()).contains("is not excluded after");
  }

  @Test
  void ofManyRowsTheFirstThreeAreNamed() {
    Situation many = new Situation(TEN_MINUTES, second -> 200 + 60 * second / 60.0);
    many.live = second -> 60 + 60 * second / 60.0;
    many.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + 60 * second / 60.0);
    for (int site = 0; site < 10; site++) {
      many.with("a.B.c" + site, 40, second -> 6 * second / 60.0);
    }

    assertThat(many.diagnosis().sentence()).contains("Several grow: ");
    assertThat(many.diagnosis().named()).hasSize(3);
    assertShort(many.diagnosis());
  }

  @Test
  void theRowThatWasNamedFirstStaysFirst() {
    Situation two = new Situation(TEN_MINUTES, second -> 200 + second / 2.0);
    two.live = second -> 60 + second / 2.0;
    two.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + second / 2.0);
    two.with("a.B.one", 100, second -> 0.26 * second);
    two.with("a.B.two", 100, second -> 0.24 * second);

    assertThat(two.diagnosis().named()).containsExactly("a.B.one", "a.B.two");
    two.firstRow = Optional.of("a.B.two");
    assertThat(two.diagnosis().named()).containsExactly("a.B.two", "a.B.one");
  }

  private static void assertShort(Diagnosis diagnosis) {
    assertThat(diagnosis.sentence().split(" ")).hasSizeLessThanOrEqualTo(25);
  }
}
