package io.mallometer.internal.diagnosis;

import static io.mallometer.internal.diagnosis.Situation.MIB;
import static io.mallometer.internal.diagnosis.Situation.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.FaceContract;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Count;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.State;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.LeakReport;
import io.mallometer.model.PageCache;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.LongToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the diagnoses of programs with known causes of growth. */
@Tag("any-jdk")
class AccountTest {

  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
  private static final double NO_LIMIT = Double.NaN;

  @Test
  void rowsAddUpToTheTotal() {
    Situation all = new Situation(TEN_MINUTES, second -> 400 + second / 2.0);
    all.heap = second -> 50 + second / 10.0;
    all.liveAndResident(second -> 100 + second / 5.0);
    all.with("a.B.pack", 4_000_000, second -> second / 8.0);
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

  @Test
  void memoryThatALineMapsIsNamedWithTheLine() {
    Situation mapper = new Situation(TEN_MINUTES, second -> 300 + second);
    mapper.limit = 2_000;
    mapper.parts.put(ResidentPart.UNEXPLAINED, second -> 5 + second);
    mapper.mapped.put("com.shop.Mapper.map", second -> second < 20 ? UNKNOWN : second);
    mapper.mapped.put("com.shop.Mapper.once", second -> second < 20 ? UNKNOWN : 3);

    Diagnosis diagnosis = mapper.diagnosis();

    Account account = diagnosis.account().orElseThrow();
    Row row = account.row(Kind.MAPPED, "com.shop.Mapper.map").orElseThrow();
    assertThat(row.place()).isEqualTo("Mapper.java:12");
    assertThat(row.bytes()).isEqualTo(600 * MIB);
    assertThat(row.growthBytes()).isCloseTo(account.total().growthBytes(), within(1.0));
    assertThat(account.row(Kind.MAPPED, "com.shop.Mapper.once").orElseThrow().growthBytes())
        .isZero();
    assertThat(growth(account, Kind.ANONYMOUS)).isZero();
    assertThat(account.row(Kind.ANONYMOUS, Kind.ANONYMOUS.words()).orElseThrow().bytes())
        .isEqualTo(2 * MIB);
    assertThat(diagnosis.sentence()).contains("Mapper.map (Mapper.java:12) maps 60 MiB/min");
    assertThat(diagnosis.findings())
        .extracting(Diagnosis.Finding::text)
        .anyMatch(text -> text.contains("mapped by Mapper.map (Mapper.java:12) +"));
    assertThat(diagnosis.actions())
        .contains("Unmap what Mapper.map (Mapper.java:12) maps, or bound it");
  }

  @Test
  void aLineThatBeginsToMapInTheWindowGrowsFromNothing() {
    Situation late = new Situation(TEN_MINUTES, second -> 300 + Math.max(0, second - 300));
    late.limit = 2_000;
    late.parts.put(ResidentPart.UNEXPLAINED, second -> 5 + Math.max(0, second - 300));
    late.mapped.put("com.shop.Mapper.map", second -> Math.max(0, second - 300));

    Account account = late.diagnosis().account().orElseThrow();

    Row row = account.row(Kind.MAPPED, "com.shop.Mapper.map").orElseThrow();
    assertThat(row.growthBytes()).isCloseTo(account.total().growthBytes(), within(1.0));
    assertThat(row.bytes()).isEqualTo(300 * MIB);
  }

  @Test
  void mappingsThatAreUnknownAtTheEndHaveNoRow() {
    Situation unknown = new Situation(TEN_MINUTES, second -> 300 + second);
    unknown.parts.put(ResidentPart.UNEXPLAINED, second -> 5 + second);
    unknown.mapped.put("com.shop.Mapper.map", second -> second > 590 ? UNKNOWN : second);

    Account account = unknown.diagnosis().account().orElseThrow();

    assertThat(account.row(Kind.MAPPED, "com.shop.Mapper.map")).isEmpty();
    assertThat(growth(account, Kind.ANONYMOUS)).isPositive();
  }

  /**
   * The live bytes of the process are counted exactly, and those of a site are estimated. A small
   * difference is a sampling error, so it is divided among the sites.
   */
  @Test
  void whatChanceExplainsIsSharedOutAmongTheSitesByTheirVariance() {
    Situation two = new Situation(TEN_MINUTES, second -> 400 + second / 4.0);
    two.liveAndResident(second -> 100 + second / 4.0);
    two.with("a.B.pack", 100, second -> second / 6.0)
        .with("a.C.read", 100, second -> second / 16.0);

    Account account = two.diagnosis().account().orElseThrow();

    assertThat(growth(account, Kind.SITE)).isCloseTo(account.total().growthBytes(), within(1.0));
    assertThat(growth(account, Kind.SAMPLING)).isCloseTo(0, within(1.0));
    double minutes = account.total().growthBytes() / 15;
    double pack = account.row(Kind.SITE, "a.B.pack").orElseThrow().growthBytes();
    double read = account.row(Kind.SITE, "a.C.read").orElseThrow().growthBytes();
    assertThat(pack / minutes - 10).isGreaterThan(4 * (read / minutes - 3.75)).isPositive();
  }

  /**
   * The live bytes of the process grow twice as fast as those of its only site. The site's growth
   * is corrected by at most the sampling error, so the row {@code SAMPLING} has most of the
   * difference.
   */
  @Test
  void whatChanceDoesNotExplainStaysASamplingDifference() {
    Situation one = new Situation(TEN_MINUTES, second -> 400 + second / 2.0);
    one.liveAndResident(second -> 100 + second / 2.0);
    one.with("a.B.pack", 400, second -> second / 4.0);

    Account account = one.diagnosis().account().orElseThrow();

    double half = account.total().growthBytes() / 2;
    assertThat(growth(account, Kind.SITE)).isBetween(half, 1.2 * half);
    assertThat(growth(account, Kind.SAMPLING)).isBetween(0.8 * half, half);
  }

  private static double growth(Account account, Kind kind) {
    return account.rows().stream()
        .filter(row -> row.kind() == kind)
        .mapToDouble(Row::growthBytes)
        .sum();
  }

  /** The program touches only half of the 20 MiB that the call site allocates per minute. */
  @Test
  void aCallSiteCountsAsFarAsItsPagesAreInMemory() {
    Situation streams = new Situation(TEN_MINUTES, second -> 200 + 10 * second / 60.0);
    streams.live = second -> 60 + 20 * second / 60.0;
    streams.residentShare = 0.5;
    streams.parts.put(ResidentPart.MALLOC_LIVE, second -> 60 + 10 * second / 60.0);
    streams.parts.put(ResidentPart.MALLOC_RETAINED, second -> 5);
    streams.with("a.Exports.compress", 400, second -> 20 * second / 60.0);
    streams.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.UNUSED, "a.Exports.compress", 20 * 60 * MIB, 190 * MIB));

    Diagnosis diagnosis = streams.diagnosis();

    Account account = diagnosis.account().orElseThrow();
    assertThat(growth(account, Kind.SITE)).isCloseTo(account.total().growthBytes(), within(1.0));
    Row retained = account.row(Kind.RETAINED, Kind.RETAINED.words()).orElseThrow();
    assertThat(retained.growthBytes()).isCloseTo(0, within(1.0));
    assertThat(retained.bytes()).isCloseTo(5 * MIB, within(1.0));
    assertThat(diagnosis.sentence())
        .contains("Exports.compress (Some.java:12) adds 20 MiB/min (50 % resident), none of it");

    streams.residentShare = 0.8;

    assertThat(streams.diagnosis().sentence()).contains("adds 20 MiB/min, none of it");
  }

  @Test
  void aFewLargeObjectsAreNamedWithTheirLine() {
    Situation tensors = new Situation(TEN_MINUTES, second -> 300 + 60.0 * (second / 60));
    tensors.limit = 2_000;
    tensors.liveAndResident(second -> 100 + 60.0 * (second / 60));
    tensors.with("a.Model.run", 0, second -> 60.0 * (second / 60));

    Diagnosis diagnosis = tensors.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.ACT);
    assertThat(diagnosis.sentence()).contains("Model.run (Some.java:12) adds 60 MiB/min");
  }

  @Test
  void whatMallocRetainsIsNamedWithItsArenasAndTheRemedy() {
    Situation bursts = retainingMore();
    bursts.allocator = Optional.of(FaceContract.allocator(0));

    Diagnosis diagnosis = bursts.diagnosis();

    assertThat(diagnosis.sentence())
        .startsWith("OOM kill expected at ")
        .contains("Malloc retains 12 MiB/min more in ", " arenas");
    assertThat(diagnosis.actions()).anyMatch(action -> action.startsWith("Trim malloc, "));
    assertThat(diagnosis.actions()).contains("Open the runbook: docs/runbooks/retained.md");
  }

  @Test
  void theRemedyForRetainedMemoryIsThatOfTheAllocator() {
    for (String setting :
        List.of(
            "glibc 2.36: Trim malloc, or set MALLOC_ARENA_MAX=2",
            "jemalloc 5.3.0: Trim malloc, or set MALLOC_CONF=background_thread:true,dirty_decay_ms:1000",
            "tcmalloc 2.10: Trim malloc, or set TCMALLOC_RELEASE_RATE=10",
            "mimalloc 2.1.2: Trim malloc, or set MIMALLOC_PURGE_DELAY=0",
            "musl: Preload another allocator, such as jemalloc: no setting of musl is known")) {
      String[] named = setting.split(": ", 2);
      Situation bursts = retainingMore();
      bursts.self = SelfReport.absent(named[0]);

      assertThat(bursts.diagnosis().actions()).as(named[0]).contains(named[1]);
    }
  }

  private static Situation retainingMore() {
    Situation bursts = new Situation(TEN_MINUTES, second -> 200 + second / 5.0);
    bursts.limit = 512;
    bursts.liveAndResident(second -> 60);
    bursts.parts.put(ResidentPart.MALLOC_RETAINED, second -> 10 + second / 5.0);
    return bursts;
  }

  @Test
  void threadsThatNeverEndAreCountedAndWhoStartsThemIsNamed() {
    Situation threads = startingThreads();
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

    threads.pool = "repair-worker-#";

    assertThat(threads.diagnosis().sentence())
        .endsWith(
            "Thread stacks add 15 MiB/min (300 threads/min, 3020 are repair-worker-#) started by"
                + " RepairTask.execute (RepairTask.java:21)");

    threads.endedThreads = second -> 7;

    assertThat(threads.diagnosis().sentence())
        .endsWith(
            "Thread stacks add 15 MiB/min (300 threads/min, none ended, 3020 are repair-worker-#)"
                + " started by RepairTask.execute (RepairTask.java:21)");

    threads.endedThreads = second -> 7 + second / 60;

    assertThat(threads.diagnosis().sentence()).doesNotContain("ended");
  }

  /**
   * Threads are mostly started by the JDK here. A line of the program starts a few other threads,
   * and must not be named as the cause.
   */
  @Test
  void threadsThatTheJdkStartsAreNamedByTheirPool() {
    Situation threads = startingThreads();
    threads.pool = "client-#";
    StackFrame start = StackFrame.ofJava("java.lang.Thread", "start0", "Thread.java", 0);
    threads.sites.put(
        "libjvm.so!JVM_StartThread",
        new Situation.Site(
            second -> second / 60.0,
            40,
            List.of(
                StackFrame.ofLibrary("libjvm.so", "JVM_StartThread", 31),
                start,
                StackFrame.ofJava(
                    "java.util.concurrent.ThreadPoolExecutor",
                    "addWorker",
                    "ThreadPoolExecutor.java",
                    945))));
    threads.sites.put(
        "a.RepairTask.execute",
        new Situation.Site(
            second -> second / 6_000.0,
            5,
            List.of(start, StackFrame.ofJava("a.RepairTask", "execute", "RepairTask.java", 21))));

    assertThat(threads.diagnosis().sentence())
        .endsWith("Thread stacks add 15 MiB/min (300 threads/min, 3020 are client-#)");
  }

  private static Situation startingThreads() {
    Situation threads = new Situation(TEN_MINUTES, second -> 150 + second / 4.0);
    threads.limit = NO_LIMIT;
    threads.threads = second -> 20 + 5 * second;
    threads.liveAndResident(second -> 60 + second / 60.0);
    threads.parts.put(ResidentPart.THREAD_STACKS, second -> 2 + second / 4.0);
    return threads;
  }

  @Test
  void theMethodThatTheCompilerSpendsMemoryOnIsNamedWithTheOptionThatStopsIt() {
    Situation compiles = new Situation(TEN_MINUTES, second -> 300);
    compiles.sites.put(
        "compilation of a.b.Exploding.dear", new Situation.Site(second -> 28, 50, List.of()));
    compiles.sites.put(
        "compilation of a.b.Other.cheap", new Situation.Site(second -> 2, 5, List.of()));
    assertThat(findings(compiles)).noneMatch(text -> text.contains("compiler"));

    compiles.sites.put(
        "compilation of a.b.Other.cheap", new Situation.Site(second -> 5, 5, List.of()));

    assertThat(findings(compiles))
        .contains(
            "The JVM's compiler holds 33 MiB, most of it to compile Exploding.dear;"
                + " -XX:CompileCommand=exclude,a.b.Exploding::dear stops that, and the method then"
                + " runs interpreted");
  }

  @Test
  void aMethodThatIsLessThanHalfIsTheLargestPartAndItsRawNameIsQuoted() {
    Situation compiles = new Situation(TEN_MINUTES, second -> 300);
    for (int i = 0; i < 5; i++) {
      StackFrame method =
          StackFrame.ofJava("a.b.Outer$Inner" + i, "<init>", "Outer.java", 1).asCompiled();
      double bytes = 10 - i;
      compiles.sites.put(
          "compilation of a.b.Outer.Inner" + i + ".new",
          new Situation.Site(second -> bytes, 50, List.of(method)));
    }

    assertThat(findings(compiles))
        .contains(
            "The JVM's compiler holds 40 MiB, the largest part of it to compile Inner0.new;"
                + " '-XX:CompileCommand=exclude,a.b.Outer$Inner0::<init>' stops that, and the"
                + " method then runs interpreted");
  }

  @Test
  void loadersThatWereReadAreAFinding() {
    Situation loads = new Situation(TEN_MINUTES, second -> 300);
    loads.classes = second -> 5_000 + 10 * second;
    assertThat(DiagnosisRules.classesGrow(loads.diagnosis().account())).isTrue();

    loads.loaders =
        Optional.of(
            new ClassLoaders(
                Instant.EPOCH,
                0.01,
                List.of(new ClassLoaders.Kind("a.Plugins", 2, 10_000, 61 << 20)),
                "Plugins.load (Plugins.java:31)",
                ""));

    assertThat(findings(loads))
        .contains(
            "Class metadata: 10,000 classes of 2 a.Plugins (61.0 MiB); Plugins.load"
                + " (Plugins.java:31) defines most, at 00:00 UTC");

    loads.loaders =
        Optional.of(
            new ClassLoaders(Instant.EPOCH, Double.NaN, List.of(), "", "it may take 25 ms"));
    assertThat(findings(loads))
        .contains("Class loaders were not read: it may take 25 ms, at 00:00 UTC");

    loads.classes = second -> 5_000;
    assertThat(DiagnosisRules.classesGrow(loads.diagnosis().account())).isFalse();
    assertThat(findings(loads)).noneMatch(text -> text.startsWith("Class metadata"));
  }

  private static List<String> findings(Situation situation) {
    return situation.diagnosis().findings().stream().map(Diagnosis.Finding::text).toList();
  }

  @Test
  void aRowThatIsNotNeededGivesWayToAShortSentence() {
    Situation threads = new Situation(TEN_MINUTES, second -> 150 + second / 2.0);
    threads.limit = NO_LIMIT;
    threads.threads = second -> 20 + 5 * second;
    threads.liveAndResident(second -> 60);
    threads.allocator = Optional.of(FaceContract.allocator(0));
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
  }

  /** A service loads classes more and more slowly in its first minutes. */
  @Test
  void classesThatAreLoadedEverMoreSlowlyAreNoReasonToWatch() {
    Situation service =
        new Situation(Duration.ofMinutes(6), second -> 200 + 6 * Math.log(1 + second));
    service.classes = second -> (long) (5_000 + 1_200 * Math.log(1 + second));
    service.parts.put(ResidentPart.METASPACE, second -> 40 + 6 * Math.log(1 + second));

    Diagnosis diagnosis = service.diagnosis();

    Account account = diagnosis.account().orElseThrow();
    assertThat(account.count(Count.CLASSES).orElseThrow().growth()).isGreaterThan(1_000);
    assertThat(account.row(Kind.METASPACE, Kind.METASPACE.words()).orElseThrow().grows()).isTrue();
    assertThat(diagnosis.state()).isEqualTo(State.TOO_EARLY);
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
        .endsWith("Metaspace adds 7.0 MiB/min (600 classes/min), Java heap adds 10 MiB/min");
    scripts.latest = Situation.naming(Kind.HEAP.words());
    assertThat(scripts.diagnosis().named()).startsWith(Kind.METASPACE.words());
    Account account = diagnosis.account().orElseThrow();
    assertThat(account.count(Count.CLASSES).orElseThrow().perMinute()).isCloseTo(600, within(1.0));
    scripts.limit = NO_LIMIT;
    scripts.mostHeap = 256;
    assertThat(scripts.diagnosis().sentence())
        .contains("Metaspace adds 7.0 MiB/min (600 classes/min), Java heap adds 10 MiB/min");
  }

  @Test
  void fiveHundredClassesAreEnoughAtAHundredAMinute() {
    Situation scripts = new Situation(Duration.ofMinutes(5), second -> 200 + 2 * second / 60.0);
    scripts.limit = NO_LIMIT;
    scripts.classes = second -> 5_000 + 5 * second;
    scripts.parts.put(ResidentPart.METASPACE, second -> 40 + 2 * second / 60.0);

    assertThat(scripts.diagnosis().state()).isEqualTo(State.WATCH);

    Situation slow = new Situation(TEN_MINUTES, second -> 200 + 2 * second / 60.0);
    slow.limit = NO_LIMIT;
    slow.classes = second -> 5_000 + 1.5 * second;
    slow.parts.put(ResidentPart.METASPACE, second -> 40 + 2 * second / 60.0);
    assertThat(slow.diagnosis().account().orElseThrow().count(Count.CLASSES).orElseThrow().growth())
        .isGreaterThan(500);
    assertThat(slow.diagnosis().state()).isNotEqualTo(State.WATCH);
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

  @Test
  void pagesOfDeletedFilesAreCountedTogether() {
    Situation index = new Situation(Duration.ofMinutes(9), second -> 200 + 3 * second / 60.0);
    index.mappedFiles =
        second -> files((int) second / 4, number -> "/data/_%d.dvd (deleted)".formatted(number));

    Diagnosis diagnosis = index.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.TOO_EARLY);
    assertThat(diagnosis.sentence()).contains(", pages of 135 deleted files grew by ");
    Account account = diagnosis.account().orElseThrow();
    Account.FilePages deleted = account.files().get(0);
    assertThat(deleted.name()).isEqualTo(Count.DELETED_FILES);
    assertThat(deleted.bytes()).isEqualTo(135 * 784 * 1_024);
    Count count = account.count(Count.DELETED_FILES).orElseThrow();
    assertThat(count.perMinute()).isCloseTo(15, within(0.5));
    assertThat(deleted.growthBytes()).isCloseTo(count.growth() * 784 * 1_024, within(1.0));
  }

  @Test
  void pagesOfManySmallFilesAreNamedByTheirKind() {
    Situation index = new Situation(TEN_MINUTES, second -> 200);
    index.mappedFiles =
        second -> files(1 + (int) second / 4, number -> "/data/_%d.dvd".formatted(number));

    Diagnosis diagnosis = index.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.HEALTHY);
    assertThat(diagnosis.sentence()).contains("; pages of index files grew by ");
    assertThat(diagnosis.account().orElseThrow().count(Count.DELETED_FILES)).isEmpty();
  }

  private static Map<String, Long> files(int count, IntFunction<String> path) {
    return IntStream.range(0, count)
        .boxed()
        .collect(Collectors.toMap(path::apply, number -> 784L << 10));
  }

  /** A reading lists only the largest thread pools and files, so it may lack a small one. */
  @Test
  void aPoolOrAFileThatIsSometimesAbsentHasNotGrownFromNothing() {
    Situation cut =
        new Situation(TEN_MINUTES, second -> 200) {
          @Override
          List<AccountReading> readings() {
            List<AccountReading> all = super.readings();
            all.replaceAll(reading -> partly(reading, all.indexOf(reading), all.size() - 1));
            return all;
          }
        };

    Account account = cut.diagnosis().account().orElseThrow();

    assertThat(account.count("pool-#").orElseThrow().growth()).isBetween(10.0, 50.0);
    assertThat(account.count("new-#")).isEmpty();
    assertThat(account.files()).extracting(Account.FilePages::name).containsExactly("b.log");
    assertThat(account.files().get(0).growthBytes()).isBetween(10.0 * MIB, 45.0 * MIB);
  }

  /**
   * Returns a copy of a reading. The pool {@code pool-#} and the two files are missing in the first
   * four copies, and then in every other copy. The pool {@code new-#} is only in the last copy.
   */
  private static AccountReading partly(AccountReading reading, int number, int last) {
    Map<String, Integer> pools = new HashMap<>();
    Map<String, Long> files = new HashMap<>();
    if ((last - number) % 2 == 0 && number > 3) {
      pools.put("pool-#", 400 + number);
      files.put("/a/b.log", 64L << 20);
      files.put("/c/b.log", (20L + number) << 20);
    }
    if (number == last) {
      pools.put("new-#", 300);
    }
    return new AccountReading(
        reading.time(),
        reading.chargedBytes(),
        reading.resident(),
        reading.charged(),
        reading.liveBytes(),
        new ProcessCounts(500, Double.NaN, pools, 5_000),
        reading.mapped(),
        AccountReading.files(files, PageCache.NONE));
  }

  @Test
  void aSentenceThatIsTooEarlyNamesTheFileBeforeItsSecondReason() {
    Situation reads = new Situation(Duration.ofMinutes(4), second -> 200 + 1.6 * second / 60);
    reads.pageCache = second -> 50 + second / 2.0;
    reads.files.put("data.mdb", second -> 50 + second / 2.0);

    Diagnosis diagnosis = reads.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.TOO_EARLY);
    assertThat(diagnosis.sentence()).contains(", pages of data.mdb grew by");
  }

  /** The buffer doubles at minutes 1, 2, 4 and 8. */
  @Test
  void aBufferThatReallocDoublesIsToWatchWithItsExactBytes() {
    Situation doubles = new Situation(TEN_MINUTES, second -> 100 + doubled(second));
    doubles.limit = NO_LIMIT;
    doubles.liveAndResident(second -> 60 + doubled(second));
    doubles.with("a.Log.append", 0, AccountTest::doubled);

    Diagnosis diagnosis = doubles.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence()).startsWith("Log.append (Some.java:12) adds ");
  }

  /** The program adds 100 KiB/s to a buffer, whose capacity doubles at 164 s and 328 s. */
  @Test
  void twoDoublingsAreEnoughAndOneStepIsNot() {
    for (int second = 390; second <= 600; second += 15) {
      Situation doubles = new Situation(Duration.ofSeconds(second), at -> 100 + buffer(at));
      doubles.limit = NO_LIMIT;
      doubles.liveAndResident(at -> 60 + buffer(at));
      doubles.with("a.Log.append", 0, AccountTest::buffer);
      Situation step = new Situation(Duration.ofSeconds(second), at -> at < 300 ? 100 : 130);
      step.limit = NO_LIMIT;
      step.liveAndResident(at -> at < 300 ? 60 : 90);
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
    leaks.liveAndResident(second -> 60 + 44.6 * second / 60);
    leaks.with("a.Jna.call", 40, second -> 6.6 * second / 60);
    leaks.with("a.Pack.deflate", 200, second -> 38.0 * second / 60);
    leaks.leaks =
        VerdictsByHand.report(
            VerdictsByHand.lost(
                VerdictsByHand.growing(Verdict.LEAK, "a.Jna.call", 6.6 * 60 * MIB, 60 * MIB)),
            VerdictsByHand.growing(Verdict.UNUSED, "a.Pack.deflate", 38 * 60 * MIB, 300 * MIB));

    Diagnosis diagnosis = leaks.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.ACT);
    assertThat(diagnosis.sentence())
        .endsWith(
            "Pack.deflate (Some.java:12) adds 38 MiB/min, Jna.call (Some.java:12) leaks 6.6 MiB/min");
  }

  @Test
  void twoSuspectsAreBothNamed() {
    Situation program = new Situation(Duration.ofSeconds(215), second -> 200 + 44 * second / 60.0);
    program.limit = NO_LIMIT;
    program.liveAndResident(second -> 60 + 44 * second / 60.0);
    program.with("a.Tokens.read", 8, second -> 6.0 * second / 60);
    program.with("a.Archive.pack", 400, second -> 38.0 * second / 60);
    program.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.UNUSED, "a.Archive.pack", 38 * 60 * MIB, 90 * MIB),
            VerdictsByHand.growing(Verdict.UNUSED, "a.Tokens.read", 6 * 60 * MIB, 12 * MIB));

    assertThat(program.diagnosis().named()).containsExactly("a.Archive.pack", "a.Tokens.read");
    program.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.LEAK, "a.Tokens.read", 6 * 60 * MIB, 12 * MIB),
            VerdictsByHand.growing(Verdict.UNUSED, "a.Archive.pack", 38 * 60 * MIB, 90 * MIB));
    assertThat(program.diagnosis().named()).containsExactly("a.Archive.pack", "a.Tokens.read");
  }

  /**
   * Growth must be observed for two minutes before it causes the state {@code WATCH} by itself. At
   * second 215, it has been observed for only 95 s since the start-up.
   */
  @Test
  void aCacheThatSurelyGrowsFasterIsNamedBeforeALeak() {
    Situation program = new Situation(Duration.ofSeconds(215), second -> 200 + 16.0 * second / 60);
    program.limit = NO_LIMIT;
    program.liveAndResident(second -> 60 + 16.0 * second / 60);
    program.with("a.Lost.page", 40, second -> 2.0 * second / 60);
    program.with("a.Cached.add", 400, second -> 14.0 * second / 60);
    program.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.LEAK, "a.Lost.page", 2 * 60 * MIB, 7 * MIB));

    Diagnosis diagnosis = program.diagnosis();

    assertThat(diagnosis.named()).containsExactly("a.Cached.add", "a.Lost.page");
    program.with("a.Cached.add", 4, second -> 14.0 * second / 60);
    assertThat(program.diagnosis().named()).startsWith("a.Lost.page");
  }

  @Test
  void aHeapOnItsWayToItsMaximumIsNotTheCauseOfAForecast() {
    Situation warming = new Situation(Duration.ofMinutes(15), second -> 110 + second / 6.0);
    warming.limit = 660;
    warming.heap = second -> 10 + 0.8 * second / 6.0;
    warming.mostHeap = 256;
    warming.parts.put(ResidentPart.UNEXPLAINED, second -> 10 + 0.2 * second / 6.0);
    warming.live = second -> 0;

    Diagnosis diagnosis = warming.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence())
        .startsWith(
            "OOM kill expected in about 2 h. Anonymous memory outside malloc adds 2.0 MiB/min");
    // Memory is 400 MiB below the limit. The Java heap can still grow by 126 MiB of these 400 MiB,
    // up to its maximum.
    assertThat(diagnosis.limit().seconds()).isCloseTo(274 / 2.0 * 60, within(200.0));
  }

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

  @Test
  void smallUnusedGrowthIsNeverHealthyWhereverTheLimitIs() {
    Situation inflaters = new Situation(TEN_MINUTES, second -> 266 + 4.8 * second / 60);
    inflaters.limit = NO_LIMIT;
    inflaters.liveAndResident(second -> 60 + 4.8 * second / 60);
    inflaters.with("a.Archive.read", 88, second -> 4.8 * second / 60);
    inflaters.leaks =
        VerdictsByHand.report(
            VerdictsByHand.growing(Verdict.UNUSED, "a.Archive.read", 4.8 * 60 * MIB, 20 * MIB));

    Diagnosis diagnosis = inflaters.diagnosis();

    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.sentence()).contains("Archive.read (Some.java:12) adds 4.8 MiB/min");
  }

  /** Garbage collections free direct buffers again and again, so that 104 MiB fall to 38 MiB. */
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

  /**
   * Memory rises by 70 MiB, falls once, and rises again. Without the verdict {@code WAITS_FOR_GC},
   * the diagnosis would forecast, at some of the tested times, that memory reaches the limit.
   */
  @Test
  void garbageThatFellOnceIsNotExtrapolated() {
    int forecasts = 0;
    for (int second = 500; second < 600; second += 10) {
      Situation buffers =
          new Situation(
              Duration.ofSeconds(second), at -> 238 + 70.0 * (at - (at < 240 ? 0 : 240)) / 240);
      buffers.limit = 512;
      forecasts += Double.isNaN(buffers.diagnosis().limit().seconds()) ? 0 : 1;
      buffers.leaks =
          VerdictsByHand.report(
              VerdictsByHand.waiting("a.B.c", 20 * MIB, GarbageAnswer.NOT_TOLD, 0));

      assertThat(buffers.diagnosis().limit().seconds()).as("at %d s", second).isNaN();
    }
    assertThat(forecasts).isPositive();
  }

  private static double garbageOf(Situation situation) {
    return situation
        .diagnosis()
        .account()
        .flatMap(account -> account.row(Kind.SITE, "a.Archive.pack"))
        .orElseThrow()
        .garbagePerSecond();
  }

  @Test
  void theRowOfGarbageSaysHowMuchOfItsGrowthACollectionFrees() {
    Situation packs = new Situation(TEN_MINUTES, second -> 200 + 43 * second / 60.0);
    packs.liveAndResident(second -> 60 + 43 * second / 60.0);
    packs.with("a.Archive.pack", 40, second -> 43 * second / 60.0);
    packs.leaks =
        VerdictsByHand.report(
            VerdictsByHand.waiting(
                "a.Archive.pack", 400 * MIB, GarbageAnswer.OLD, 40.0 * MIB / 60));

    assertThat(packs.diagnosis().sentence())
        .contains(", of which an old garbage collection frees 40 MiB/min, the last 14 min ago");
    assertThat(garbageOf(packs)).isCloseTo(40 * MIB / 60, within(1.0));
    assertThat(packs.diagnosis().findings())
        .filteredOn(finding -> finding.topic().equals("account"))
        .singleElement()
        .extracting(Diagnosis.Finding::text)
        .asString()
        .contains(
            "Archive.pack +",
            " (of which an old garbage collection frees 40 MiB/min, the last 14 min ago)");

    packs.leaks =
        VerdictsByHand.report(
            VerdictsByHand.waiting("a.Archive.pack", 400 * MIB, GarbageAnswer.YOUNG, 0));

    assertThat(packs.diagnosis().sentence())
        .contains("adds 43 MiB/min, which a young garbage collection frees");
    assertThat(garbageOf(packs)).isZero();

    // The garbage of a healthy site is stated as well. The stated rate of garbage is at most the
    // rate at which the site grows.
    packs.leaks =
        VerdictsByHand.report(
            VerdictsByHand.garbage(
                Verdict.HEALTHY, "a.Archive.pack", 400 * MIB, GarbageAnswer.OLD, 60.0 * MIB / 60));

    assertThat(packs.diagnosis().sentence())
        .contains(" adds 43 MiB/min, of which an old garbage collection frees 43 MiB/min");
    assertThat(garbageOf(packs)).isCloseTo(43 * MIB / 60, within(0.02 * MIB));
  }

  /** The report has no verdict on the site, but states that young collections free its memory. */
  @Test
  void growthThatYoungCollectionsFreeAsksForNoStateAndIsListed() {
    Situation inflaters = new Situation(TEN_MINUTES, second -> 200 + 3 * second / 60.0);
    inflaters.limit = NO_LIMIT;
    inflaters.liveAndResident(second -> 60 + 3 * second / 60.0);
    inflaters.with("a.Latencies.receive", 40, second -> 3 * second / 60.0);
    assertThat(inflaters.diagnosis().state()).isEqualTo(State.WATCH);
    assertThat(findings(inflaters)).noneMatch(text -> text.contains("Close what"));

    LeakReport freed =
        VerdictsByHand.report(
            VerdictsByHand.garbage(
                Verdict.HEALTHY, "a.Latencies.receive", 30 * MIB, GarbageAnswer.YOUNG, 0));
    inflaters.leaks = freed.with(List.of());

    assertThat(inflaters.diagnosis().state()).isEqualTo(State.TOO_EARLY);
    assertThat(findings(inflaters))
        .anyMatch(
            text ->
                text.startsWith("Latencies.receive (Some.java:12) grew by ")
                    && text.contains(
                        ", which a young garbage collection frees. Close what Latencies.receive"
                            + " (Some.java:12) allocates"));
  }

  /** A young collection frees what was allocated since the last one. */
  @Test
  void memoryThatYoungCollectionsFreeIsListedThoughNothingGrows() {
    Situation inflaters = new Situation(TEN_MINUTES, second -> 200);
    for (double live : new double[] {30 * MIB, 0.5 * MIB}) {
      inflaters.leaks =
          VerdictsByHand.report(
              VerdictsByHand.garbage(
                  Verdict.HEALTHY, "a.Latencies.receive", live, GarbageAnswer.YOUNG, 0));

      assertThat(inflaters.diagnosis().state()).isEqualTo(State.HEALTHY);
      assertThat(findings(inflaters).stream().anyMatch(text -> text.contains("a smaller -Xmx")))
          .isEqualTo(live > MIB);
    }
  }

  /** The heap has room, so no garbage collection runs and unclosed inflaters pile up. */
  @Test
  void whileNoCollectionCameItIsSaidThatOneMayFreeTheGrowth() {
    Situation inflaters = new Situation(TEN_MINUTES, second -> 200 + 12 * second / 60.0);
    inflaters.liveAndResident(second -> 60 + 12 * second / 60.0);
    inflaters.with("a.Version.show", 200, second -> 12 * second / 60.0);
    LeakReport healthy =
        VerdictsByHand.report(
            VerdictsByHand.garbage(
                Verdict.HEALTHY, "a.Version.show", 120 * MIB, GarbageAnswer.NOT_YET, 0));
    for (Verdict verdict : List.of(Verdict.HEALTHY, Verdict.GROWING, Verdict.UNUSED)) {
      inflaters.leaks =
          healthy.with(
              List.of(VerdictsByHand.growing(verdict, "a.Version.show", 12 * 60 * MIB, 120 * MIB)));

      Diagnosis diagnosis = inflaters.diagnosis();

      assertThat(diagnosis.state()).isEqualTo(State.WATCH);
      assertThat(diagnosis.sentence())
          .contains("Version.show (Some.java:12) adds 12 MiB/min")
          .endsWith(", which the next garbage collection may free");
      assertThat(findings(inflaters))
          .anyMatch(
              text ->
                  text.contains(
                      "which the next garbage collection may free. Close what Version.show"
                          + " (Some.java:12)"));
    }
  }

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
    many.liveAndResident(second -> 60 + 60 * second / 60.0);
    for (int site = 0; site < 10; site++) {
      many.with("a.B.c" + site, 40, second -> 6 * second / 60.0);
    }

    assertThat(many.diagnosis().sentence()).contains("Several grow: ");
    assertThat(many.diagnosis().named()).hasSize(3);
  }

  /** The burst began a minute ago, which is too recent to find its cause. */
  @Test
  void aBurstDoesNotHideTheSiteThatGrewBefore() {
    LongToDoubleFunction site = second -> second / 20.0;
    LongToDoubleFunction burst = second -> 2.0 * Math.max(0, second - 540);
    Situation both =
        new Situation(
            TEN_MINUTES, second -> 300 + site.applyAsDouble(second) + burst.applyAsDouble(second));
    both.limit = NO_LIMIT;
    both.liveAndResident(second -> 100 + site.applyAsDouble(second));
    both.parts.put(ResidentPart.UNEXPLAINED, burst);
    both.with("a.B.pack", 100, site);

    Diagnosis diagnosis = both.diagnosis();

    assertThat(diagnosis.account().orElseThrow().from()).isAfter(Situation.START.plusSeconds(480));
    assertThat(diagnosis.state()).isEqualTo(State.WATCH);
    assertThat(diagnosis.named()).contains("a.B.pack");
  }

  @Test
  void theRowThatWasNamedFirstStaysFirst() {
    Situation two = new Situation(TEN_MINUTES, second -> 200 + second / 2.0);
    two.liveAndResident(second -> 60 + second / 2.0);
    two.with("a.B.one", 100, second -> 0.26 * second);
    two.with("a.B.two", 100, second -> 0.24 * second);

    assertThat(two.diagnosis().named()).containsExactly("a.B.one", "a.B.two");
    two.latest = Situation.naming("a.B.two");
    assertThat(two.diagnosis().named()).containsExactly("a.B.two", "a.B.one");
  }

  /** Memory grows only during the start-up, by 200 MiB. */
  @Test
  void anAccountHasThreeReadingsSinceTheStartUp() {
    assertThat(new Situation(Duration.ofSeconds(149), second -> 400).diagnosis().account())
        .isEmpty();
    Account first =
        new Situation(Duration.ofSeconds(150), second -> second < 120 ? 200 : 400)
            .diagnosis()
            .account()
            .orElseThrow();
    assertThat(first.from()).isEqualTo(Situation.START.plusSeconds(120));
    assertThat(first.total().growthBytes()).isZero();
  }

  /**
   * The objects at the end of the window are not those at its beginning. Their samples are
   * independent, so the sampling errors of both ends add up.
   */
  @Test
  void aSiteThatReplacesItsObjectsHasToGrowBeyondTheErrorOfBothEnds() {
    Situation replaces = new Situation(TEN_MINUTES, second -> 300 + second / 40.0);
    replaces.liveAndResident(second -> 100 + second / 40.0);
    replaces.with("a.Sessions.open", 120, second -> 58 + second / 40.0);

    replaces.allocated = 1_000;
    assertThat(lower(replaces)).isNegative();
    replaces.allocated = 73;
    assertThat(lower(replaces)).isPositive();
  }

  private static double lower(Situation replaces) {
    return replaces
        .diagnosis()
        .account()
        .flatMap(account -> account.row(Kind.SITE, "a.Sessions.open"))
        .orElseThrow()
        .lowerPerSecond();
  }
}
