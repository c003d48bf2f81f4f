package io.mallometer.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.diagnosis.AccountReading.MappingSite;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSite;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Estimate;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.PageCache;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.LongToDoubleFunction;

/**
 * Simulates a process up to a certain age. Functions give the size of each part of its memory, in
 * MiB, at each second since the start. The process started at noon with a limit of 1,000 MiB, and
 * its start-up ended at 12:02.
 */
class Situation {

  static final double MIB = 1 << 20;
  static final double UNKNOWN = Double.NaN;

  static final int MOST_WORDS = 25;

  static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

  /**
   * A call site.
   *
   * @param live the live MiB by second
   * @param samples the number of samples; 0 if the bytes are exact
   * @param frames the stack
   */
  record Site(LongToDoubleFunction live, int samples, List<StackFrame> frames) {}

  private final Duration age;
  private final LongToDoubleFunction used;
  double limit = 1_000;
  double available = 6_000;
  double stated = Double.NaN;
  LongToDoubleFunction heap = second -> 50;
  LongToDoubleFunction pageCache = second -> 0;
  LongToDoubleFunction live = second -> UNKNOWN;
  LongToDoubleFunction threads = second -> 20;
  LongToDoubleFunction endedThreads = second -> UNKNOWN;

  Optional<ClassLoaders> loaders = Optional.empty();

  /** The thread pool of all threads; empty if there is none. */
  String pool = "";

  LongToDoubleFunction classes = second -> 5_000;
  double mostHeap = 50;

  /** Whether the diagnosis has readings that divide memory into parts, such as metaspace. */
  boolean divided = true;

  int readingSeconds = 15;

  /** The share of the call sites' live bytes that is resident; NaN if unknown. */
  double residentShare = Double.NaN;

  /** The MiB that each call site has allocated; {@code NaN} if they equal the live MiB. */
  double allocated = Double.NaN;

  Status status = Status.counting();
  SelfReport self = FaceContract.selfReport();
  LeakReport leaks = VerdictsByHand.report();
  Optional<AllocatorStatistics> allocator = Optional.empty();
  Optional<PoolReport> pools = Optional.empty();
  Optional<PreviousRun> previous = Optional.empty();
  Diagnosis latest = Diagnosis.none(START);
  final Map<ResidentPart, LongToDoubleFunction> parts = new EnumMap<>(ResidentPart.class);
  final Map<String, Site> sites = new LinkedHashMap<>();
  final Map<String, LongToDoubleFunction> files = new HashMap<>();

  /** The bytes of each mapped file by its path, for each second. */
  LongFunction<Map<String, Long>> mappedFiles = second -> Map.of();

  /**
   * Functions that return the MiB that a method has mapped at a given second, by the method's name;
   * {@code NaN} means unknown.
   */
  final Map<String, LongToDoubleFunction> mapped = new LinkedHashMap<>();

  Situation(Duration age, LongToDoubleFunction used) {
    this.age = age;
    this.used = used;
    parts.put(ResidentPart.MALLOC_RETAINED, second -> 50);
  }

  Situation with(String name, int samples, LongToDoubleFunction liveBytes) {
    int dot = name.lastIndexOf('.');
    StackFrame frame =
        StackFrame.ofJava(
            name.substring(0, Math.max(0, dot)), name.substring(dot + 1), "Some.java", 12);
    sites.put(name, new Site(liveBytes, samples, List.of(frame)));
    return this;
  }

  /** Sets the live MiB by second. All of them are resident. */
  void liveAndResident(LongToDoubleFunction mebibytes) {
    live = mebibytes;
    parts.put(ResidentPart.MALLOC_LIVE, mebibytes);
  }

  static Diagnosis naming(String row) {
    return Diagnosis.none(START).held(Diagnosis.State.WATCH, START, "", List.of(), List.of(row));
  }

  Diagnosis diagnosis() {
    Diagnosis diagnosis = DiagnosisRules.diagnosis(input());
    assertThat(diagnosis.sentence().split(" ")).hasSizeLessThanOrEqualTo(MOST_WORDS);
    return diagnosis;
  }

  DiagnosisInput input() {
    Snapshot snapshot =
        new Snapshot(
                START.plus(age),
                status,
                status.active() ? Optional.of(FaceContract.counters(true, 0)) : Optional.empty(),
                self)
            .with(memory(age.toSeconds()))
            .with(allocator)
            .withPools(pools);
    return new DiagnosisInput(
        snapshot,
        history(),
        divided ? readings() : List.of(),
        sites.isEmpty() ? Optional.empty() : Optional.of(trends()),
        leaks,
        MallometerOptions.defaults(),
        new DiagnosisInput.Run(
            START, new HeldDiagnosis(START).startedUp(START.plus(age)), previous, loaders),
        latest);
  }

  private List<HistoryPoint> history() {
    List<HistoryPoint> points = new ArrayList<>();
    for (long second = 0; second <= age.toSeconds(); second += 5) {
      double bytes = used.applyAsDouble(second) * MIB;
      double withFiles = bytes + pageCache.applyAsDouble(second) * MIB;
      points.add(
          new HistoryPoint(
              START.plusSeconds(second),
              live.applyAsDouble(second) * MIB,
              UNKNOWN,
              0,
              0,
              0,
              withFiles,
              withFiles,
              withFiles,
              bytes,
              bytes,
              limit * MIB));
    }
    return points;
  }

  List<AccountReading> readings() {
    List<AccountReading> readings = new ArrayList<>();
    for (long second = 0; second <= age.toSeconds(); second += readingSeconds) {
      double bytes = used.applyAsDouble(second) * MIB;
      ResidentMemory split = resident(second);
      Map<String, Long> pages = new HashMap<>(mappedFiles.apply(second));
      for (Map.Entry<String, LongToDoubleFunction> file : files.entrySet()) {
        pages.put(file.getKey(), bytes(file.getValue(), second));
      }
      readings.add(
          new AccountReading(
              START.plusSeconds(second),
              bytes,
              new AccountReading.Resident(bytes, split.parts(), 0, split.mallocBytes()),
              Map.of(),
              live.applyAsDouble(second) * MIB,
              new ProcessCounts(
                  (int) threads.applyAsDouble(second),
                  endedThreads.applyAsDouble(second),
                  pool.isEmpty() ? Map.of() : Map.of(pool, (int) threads.applyAsDouble(second)),
                  (int) classes.applyAsDouble(second)),
              mapped(second),
              AccountReading.files(pages, PageCache.NONE)));
    }
    return readings;
  }

  private Optional<Map<MappingSite, Long>> mapped(long second) {
    Map<MappingSite, Long> sites = new HashMap<>();
    for (Map.Entry<String, LongToDoubleFunction> site : mapped.entrySet()) {
      if (Double.isNaN(site.getValue().applyAsDouble(second))) {
        return Optional.empty();
      }
      if (bytes(site.getValue(), second) > 0) {
        sites.put(new MappingSite(site.getKey(), "Mapper.java:12"), bytes(site.getValue(), second));
      }
    }
    return Optional.of(sites);
  }

  private static List<ResidentMemory.Mapped> inModel(Map<MappingSite, Long> sites) {
    return sites.keySet().stream()
        .map(site -> new ResidentMemory.Mapped(site.name(), site.place(), sites.get(site)))
        .toList();
  }

  SiteTrends trends() {
    List<Instant> times = new ArrayList<>();
    for (long second = 0; second <= age.toSeconds(); second += 15) {
      times.add(START.plusSeconds(second));
    }
    List<SiteTrends.Group> groups = new ArrayList<>();
    sites.forEach(
        (name, site) -> {
          List<Double> held = new ArrayList<>();
          for (long second = 0; second <= age.toSeconds(); second += 15) {
            held.add(site.live().applyAsDouble(second) * MIB);
          }
          double now = held.get(held.size() - 1);
          double variance = site.samples() == 0 ? 0 : now * now / site.samples();
          Estimate bytes = new Estimate(now, variance, site.samples());
          Estimate all =
              Double.isNaN(allocated)
                  ? bytes
                  : new Estimate(allocated * MIB, variance, site.samples());
          groups.add(
              new SiteTrends.Group(
                  new SiteGroup(
                      name,
                      1,
                      site.samples(),
                      all,
                      all,
                      bytes,
                      bytes,
                      bytes.share(residentShare),
                      UNKNOWN),
                  held,
                  List.of(
                      new CallSite(
                          7,
                          site.frames(),
                          name,
                          "libzip.so",
                          site.samples(),
                          bytes,
                          bytes,
                          bytes,
                          bytes,
                          UNKNOWN,
                          UNKNOWN,
                          CallSite.Ages.UNKNOWN))));
        });
    return new SiteTrends(times, groups, "");
  }

  private static long bytes(LongToDoubleFunction figure, long second) {
    return (long) (figure.applyAsDouble(second) * MIB);
  }

  private ResidentMemory resident(long second) {
    Map<ResidentPart, Long> bytes = new EnumMap<>(ResidentPart.class);
    parts.forEach((part, figure) -> bytes.put(part, bytes(figure, second)));
    bytes.put(ResidentPart.JAVA_HEAP, bytes(heap, second));
    bytes.put(ResidentPart.MAPPED_FILES, bytes(pageCache, second));
    ResidentMemory split =
        new ResidentMemory(
            START.plusSeconds(second), bytes(used, second), bytes, 0, 0, false, 10, 0.01);
    return new ResidentMemory(
        split.time(),
        split.totalBytes(),
        split.parts(),
        split.presumedBytes(),
        split.copiedFileBytes(),
        split.nativeMemoryTracking(),
        split.decidedBy(),
        split.mappings(),
        split.costSeconds(),
        split.mallocBytes(),
        split.mappedFiles(),
        split.hugePages(),
        split.threadStacks(),
        split.pageCache(),
        mapped(second).map(Situation::inModel));
  }

  private ProcessMemory memory(long second) {
    double bytes = used.applyAsDouble(second) * MIB;
    double pages = pageCache.applyAsDouble(second) * MIB;
    CgroupMemory cgroup =
        new CgroupMemory(
            2,
            (long) (bytes + pages),
            Map.of(ChargedPart.PAGE_CACHE, (long) pages),
            limit * MIB,
            UNKNOWN,
            bytes + pages,
            UNKNOWN,
            Map.of(),
            Optional.empty());
    MemoryBudget budget =
        new MemoryBudget(
            List.of(
                new MemoryBudget.Line(
                    ResidentPart.JAVA_HEAP.tag(),
                    (long) (mostHeap * MIB),
                    "configured",
                    "",
                    mostHeap * MIB)),
            100 * MIB,
            limit * MIB,
            "fits");
    return new ProcessMemory(
        bytes + pages,
        pages,
        Optional.of(resident(second)),
        Optional.of(cgroup),
        Optional.of(budget),
        8_000 * MIB,
        available * MIB,
        stated);
  }
}
