package io.mallometer.meter;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteSummary.Share;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Verdict;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The meters, listed once for all faces: name, type, unit, meaning and value of each.
 *
 * <p>Names are Micrometer's (dots). In Prometheus they follow by rule: dots become underscores, the
 * unit is appended, and counters end in {@code _total}, so {@code native.malloc.requested} in bytes
 * is {@code native_malloc_requested_bytes_total}. Meters {@code native.malloc.*} have series only
 * while mallometer counts; {@code native.allocator.*} where the allocator tells; {@code
 * native.memory.*} and {@code cgroup.*} where the system tells, also without the native library;
 * {@code mallometer.*} always, but {@code mallometer.samples*} only while something is sampled.
 *
 * <p>The distribution of request sizes is a real histogram and not in the list, because Micrometer
 * has no meter for it: {@link #REQUEST_SIZE}.
 *
 * <p>A meter that an MBean shows names its attribute. The attribute has the meter's description,
 * type and value.
 *
 * @param name Micrometer name; empty for a figure that only an MBean shows
 * @param type counter or gauge
 * @param unit {@code "bytes"}, {@code "seconds"}, {@code "ratio"}, or empty for a number of things
 * @param description what it means, one sentence
 * @param attribute where JMX shows it; empty if nowhere
 * @param seriesOf the series it has while a given snapshot is the latest
 */
public record Meter(
    String name,
    Type type,
    String unit,
    String description,
    Optional<Attribute> attribute,
    Function<Snapshot, List<Series>> seriesOf) {

  /** Kind of a meter: how its value changes. */
  public enum Type {
    /** Only grows while the process lives. */
    COUNTER,
    /** Goes up and down. */
    GAUGE
  }

  /** A dimension of a series. */
  public record Tag(String key, String value) {}

  /** The value of a series in a snapshot, at the time the clock shows; {@code NaN} if unknown. */
  @FunctionalInterface
  public interface Figure {
    double of(Snapshot snapshot, Clock clock);
  }

  /** One line of a meter: its tags, and how to read its value from any later snapshot. */
  public record Series(List<Tag> tags, Figure figure) {}

  /**
   * An attribute of an MBean.
   *
   * @param bean the key {@code type} of the MBean's name
   * @param name the attribute's name
   * @param units the unit, or the plural of what is counted
   * @param isTable whether the attribute has a row for each series, under the value of its tag;
   *     otherwise it is the sum of the series
   */
  public record Attribute(String bean, String name, String units, boolean isTable) {}

  /** The name, in Micrometer's style, of the histogram of requested sizes, in bytes. */
  public static final String REQUEST_SIZE = "native.malloc.request.size";

  /** Description of {@link #REQUEST_SIZE}. */
  public static final String REQUEST_SIZE_DESCRIPTION =
      "Sizes that successful native allocations requested";

  private static final String BYTES = "bytes";
  private static final String SECONDS = "seconds";
  private static final String RATIO = "ratio";
  private static final String NO_UNIT = "";
  private static final String NO_NAME = "";

  private static final String NATIVE_MEMORY = "NativeMemory";
  private static final String ALLOCATOR = "Allocator";
  private static final String CALL_SITES = "CallSites";
  private static final String LEAK_DETECTOR = "LeakDetector";

  private static final List<Meter> ALL =
      List.of(
          counted(
                  "native.malloc.allocations",
                  Type.COUNTER,
                  NO_UNIT,
                  "Successful native allocation calls; small is up to 4096 bytes",
                  tagged("size", "small", NativeCounters::smallAllocations),
                  tagged("size", "large", NativeCounters::largeAllocations))
              .attribute(NATIVE_MEMORY, "AllocationCount", "allocations"),
          counted(
                  "native.malloc.requested",
                  Type.COUNTER,
                  BYTES,
                  "Memory that successful native allocations requested",
                  untagged(NativeCounters::requestedBytes))
              .attribute(NATIVE_MEMORY, "RequestedBytes", BYTES),
          counted(
                  "native.malloc.allocated",
                  Type.COUNTER,
                  BYTES,
                  "Allocated native memory, in the unit of freed and live bytes",
                  untagged(NativeCounters::allocatedBytes))
              .attribute(NATIVE_MEMORY, "AllocatedBytes", BYTES),
          counted(
                  "native.malloc.freed",
                  Type.COUNTER,
                  BYTES,
                  "Freed native memory",
                  untagged(NativeCounters::freedBytes))
              .attribute(NATIVE_MEMORY, "FreedBytes", BYTES),
          counted(
                  "native.malloc.frees",
                  Type.COUNTER,
                  NO_UNIT,
                  "Freed native objects",
                  untagged(NativeCounters::frees))
              .attribute(NATIVE_MEMORY, "FreeCount", "frees"),
          counted(
                  "native.malloc.failures",
                  Type.COUNTER,
                  NO_UNIT,
                  "Native allocation calls that failed",
                  untagged(NativeCounters::failed))
              .attribute(NATIVE_MEMORY, "FailedAllocationCount", "allocations"),
          counted(
                  "native.malloc.live",
                  Type.GAUGE,
                  BYTES,
                  "Live native memory: allocated and not freed",
                  untagged(NativeCounters::liveBytes))
              .attribute(NATIVE_MEMORY, "LiveBytes", BYTES),
          counted(
                  "native.malloc.peak",
                  Type.GAUGE,
                  BYTES,
                  "Peak of live native memory since counting began",
                  untagged(NativeCounters::peakBytes))
              .attribute(NATIVE_MEMORY, "PeakBytes", BYTES),
          new Meter(
                  "native.malloc.baseline",
                  Type.GAUGE,
                  BYTES,
                  "Native memory that was live when mallometer attached; part of live until it"
                      + " is freed",
                  when(Meter::knowsBaseline, untagged(counted -> counted.baseline().bytes())))
              .attribute(NATIVE_MEMORY, "BaselineBytes", BYTES),
          counted(
                  "native.malloc.largest",
                  Type.GAUGE,
                  BYTES,
                  "The largest successful native request since counting began, if above 32 KiB",
                  untagged(NativeCounters::largestRequestBytes))
              .attribute(NATIVE_MEMORY, "LargestRequestBytes", BYTES),
          new Meter(
                  "native.malloc.live.objects",
                  Type.GAUGE,
                  NO_UNIT,
                  "Live native objects; unknown after an attach",
                  when(Meter::knowsObjects, untagged(NativeCounters::liveObjects)))
              .attribute(NATIVE_MEMORY, "LiveObjects", "objects"),
          counted(
                  "native.malloc.huge",
                  Type.COUNTER,
                  NO_UNIT,
                  "Successful native allocations above the size MALLOMETER_HUGE",
                  untagged(NativeCounters::hugeAllocations))
              .attribute(NATIVE_MEMORY, "HugeAllocationCount", "allocations"),
          new Meter(
                  "native.malloc.library.live",
                  Type.GAUGE,
                  BYTES,
                  "Live native memory by the library that requested it, estimated from samples",
                  shares("library", snapshot -> snapshot.sites().map(SiteSummary::libraries)))
              .table(CALL_SITES, "LiveByLibrary", BYTES),
          new Meter(
                  "native.malloc.site.live",
                  Type.GAUGE,
                  BYTES,
                  "Live native memory by the call site that requested it, estimated from samples",
                  shares("site", snapshot -> snapshot.sites().map(SiteSummary::sites)))
              .table(CALL_SITES, "LiveBySite", BYTES),
          new Meter(
              "native.malloc.leak.sites",
              Type.GAUGE,
              NO_UNIT,
              "Call sites by verdict",
              when(
                  snapshot -> snapshot.leaks().isPresent(),
                  leaks(LeakEvidence.LOST, LeakSummary::lost),
                  leaks(LeakEvidence.OUTLASTED, LeakSummary::outlasted),
                  leaks(LeakEvidence.KNOWN, LeakSummary::known),
                  sites(Verdict.UNUSED, LeakSummary::unused),
                  sites(Verdict.GROWING, LeakSummary::growing),
                  sites(Verdict.POOL, LeakSummary::pools))),
          new Meter(
                  "native.malloc.leak.suspected",
                  Type.GAUGE,
                  BYTES,
                  "Native memory in lost or idle objects of call sites with the verdict leak, estimated",
                  shares("site", snapshot -> snapshot.leaks().map(LeakSummary::suspected)))
              .table(LEAK_DETECTOR, "SuspectedBytes", BYTES),
          new Meter(
                  "native.malloc.leak.unused",
                  Type.GAUGE,
                  BYTES,
                  "Native memory in idle objects of call sites with the verdict unused, estimated",
                  shares("site", snapshot -> snapshot.leaks().map(LeakSummary::unusedBytes)))
              .table(LEAK_DETECTOR, "UnusedBytes", BYTES),
          allocator(
                  "native.allocator.system",
                  Type.GAUGE,
                  BYTES,
                  "Memory that the allocator has from the operating system",
                  AllocatorStatistics::systemBytes)
              .attribute(ALLOCATOR, "SystemBytes", BYTES),
          allocator(
                  "native.allocator.used",
                  Type.GAUGE,
                  BYTES,
                  "Memory of live objects in the allocator, with its overhead for each object",
                  AllocatorStatistics::usedBytes)
              .attribute(ALLOCATOR, "UsedBytes", BYTES),
          allocator(
                  "native.allocator.retained",
                  Type.GAUGE,
                  BYTES,
                  "Free memory that the allocator retains, resident or not",
                  AllocatorStatistics::retainedBytes)
              .attribute(ALLOCATOR, "RetainedBytes", BYTES),
          allocator(
                  "native.allocator.trimmable",
                  Type.GAUGE,
                  BYTES,
                  "Lower bound of the resident memory that a trim would return",
                  AllocatorStatistics::trimmableBytes)
              .attribute(ALLOCATOR, "TrimmableBytes", BYTES),
          allocator(
                  "native.allocator.arenas",
                  Type.GAUGE,
                  NO_UNIT,
                  "Arenas of the allocator",
                  AllocatorStatistics::arenas)
              .attribute(ALLOCATOR, "Arenas", "arenas"),
          allocator(
                  "native.allocator.trims",
                  Type.COUNTER,
                  NO_UNIT,
                  "Trims of the allocator by mallometer",
                  AllocatorStatistics::trims)
              .attribute(ALLOCATOR, "Trims", "trims"),
          new Meter(
                  "native.memory.resident",
                  Type.GAUGE,
                  BYTES,
                  "Resident memory by part; the parts add up to the resident set",
                  rows("part", Meter::residentParts, ResidentPart::tag))
              .table(NATIVE_MEMORY, "ResidentParts", BYTES),
          new Meter(
                  "native.memory.thp",
                  Type.GAUGE,
                  BYTES,
                  "Resident memory in transparent huge pages",
                  when(Meter::knowsHugePages, huge(HugePages::bytes)))
              .attribute(NATIVE_MEMORY, "HugePageBytes", BYTES),
          new Meter(
                  "cgroup.memory.charged",
                  Type.GAUGE,
                  BYTES,
                  "Memory charged to the cgroup by part; the parts add up to the charge",
                  rows("part", Meter::chargedParts, ChargedPart::tag))
              .table(NATIVE_MEMORY, "CgroupParts", BYTES),
          cgroup(
                  "cgroup.memory.limit",
                  "The cgroup's memory limit, the lowest in force",
                  CgroupMemory::limitBytes)
              .attribute(NATIVE_MEMORY, "CgroupLimitBytes", BYTES),
          cgroup(
                  "cgroup.memory.high",
                  "Memory above which the kernel slows the cgroup down and reclaims",
                  CgroupMemory::highBytes)
              .attribute(NATIVE_MEMORY, "CgroupHighBytes", BYTES),
          cgroup(
                  "cgroup.memory.working.set",
                  "Memory charged to the cgroup without inactive files, by which Kubernetes evicts",
                  CgroupMemory::workingSetBytes)
              .attribute(NATIVE_MEMORY, "CgroupWorkingSetBytes", BYTES),
          cgroup("cgroup.memory.swap", "Memory of the cgroup in swap", CgroupMemory::swapBytes)
              .attribute(NATIVE_MEMORY, "CgroupSwapBytes", BYTES),
          new Meter(
                  "cgroup.memory.events",
                  Type.COUNTER,
                  NO_UNIT,
                  "How often the cgroup reached high or max, ran out of memory, or had a process"
                      + " killed",
                  rows("event", Meter::cgroupEvents, event -> event))
              .table(NATIVE_MEMORY, "CgroupEvents", "events"),
          always(
              "mallometer.active",
              Type.GAUGE,
              NO_UNIT,
              "1 while native allocations are counted, else 0",
              (snapshot, clock) -> snapshot.status().active() ? 1 : 0),
          new Meter(
              "mallometer.build.info",
              Type.GAUGE,
              NO_UNIT,
              "Always 1; the tags describe the library: version, allocator, mode, unit of bytes",
              snapshot -> List.of(build(snapshot.self()))),
          new Meter(
              "mallometer.application.info",
              Type.GAUGE,
              NO_UNIT,
              "Always 1; the tag is the version of the application; absent where it is unknown",
              snapshot -> snapshot.applicationVersion().map(Meter::application).orElse(List.of())),
          always(
                  "mallometer.snapshot.age",
                  Type.GAUGE,
                  SECONDS,
                  "Time since the counters were read; grows if the poller is stuck",
                  Snapshot::ageSeconds)
              .attribute(NATIVE_MEMORY, "SnapshotAge", SECONDS),
          always(
                  "mallometer.overhead",
                  Type.COUNTER,
                  SECONDS,
                  "Time of samples, and of reading, decoding and recording counters; without"
                      + " counting",
                  (snapshot, clock) -> snapshot.self().overheadSeconds())
              .attribute(NATIVE_MEMORY, "Overhead", SECONDS),
          always(
                  "mallometer.footprint",
                  Type.GAUGE,
                  BYTES,
                  "Memory that the native library has mapped, resident or not",
                  (snapshot, clock) -> snapshot.self().footprintBytes())
              .attribute(NATIVE_MEMORY, "FootprintBytes", BYTES),
          new Meter(
                  "mallometer.diagnosis",
                  Type.GAUGE,
                  NO_UNIT,
                  "The diagnosis on the process: 1 for the current one, 0 for the others",
                  when(snapshot -> true, diagnoses()))
              .table(NATIVE_MEMORY, "DiagnosisStates", "states"),
          new Meter(
                  "mallometer.time.to.limit",
                  Type.GAUGE,
                  SECONDS,
                  "Time until memory reaches its limit if growth continues; absent while it does"
                      + " not grow",
                  Meter::secondsToLimit)
              .table(NATIVE_MEMORY, "LimitSeconds", SECONDS),
          new Meter(
                  "mallometer.previous.exit.timestamp",
                  Type.GAUGE,
                  SECONDS,
                  "Unix time at which the previous run ended; absent where none is recorded",
                  Meter::previousExit)
              .table(NATIVE_MEMORY, "PreviousExit", SECONDS),
          new Meter(
                  "mallometer.overhead.target",
                  Type.GAUGE,
                  RATIO,
                  "Share of one processor's time that samples may take",
                  sampling(new Series(List.of(), ofSampling(SelfReport.Sampling::overheadTarget))))
              .attribute(CALL_SITES, "OverheadTarget", RATIO),
          new Meter(
                  "mallometer.samples",
                  Type.COUNTER,
                  NO_UNIT,
                  "Sampled native allocations",
                  sampling(new Series(List.of(), ofSampling(SelfReport.Sampling::samples))))
              .attribute(CALL_SITES, "Samples", "samples"),
          new Meter(
                  "mallometer.samples.dropped",
                  Type.COUNTER,
                  NO_UNIT,
                  "Missing in call sites because a table was full: samples (no_site), their end"
                      + " (not_followed), and the call paths of allocations (no_path)",
                  sampling(
                      dropped("no_site", SelfReport.Sampling::withoutSite),
                      dropped("not_followed", SelfReport.Sampling::notFollowed),
                      dropped("no_path", SelfReport.Sampling::bySizeOnly)))
              .table(CALL_SITES, "DroppedSamples", "samples"));

  private static final List<Series> BOUNDS =
      List.of(
          bound("lower", Limit::lowerSeconds),
          bound("estimate", Limit::seconds),
          bound("upper", Limit::upperSeconds));

  /** Whether a figure is known is the same at any time. */
  private static final Clock ANY_TIME = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

  /** Figures that only MBeans show. */
  private static final List<Meter> OF_MBEANS =
      List.of(
          counted(
                  NO_NAME,
                  Type.COUNTER,
                  NO_UNIT,
                  "Successful native allocation calls of up to 4096 bytes",
                  untagged(NativeCounters::smallAllocations))
              .attribute(NATIVE_MEMORY, "SmallAllocationCount", "allocations"),
          counted(
                  NO_NAME,
                  Type.COUNTER,
                  NO_UNIT,
                  "Successful native allocation calls above 4096 bytes",
                  untagged(NativeCounters::largeAllocations))
              .attribute(NATIVE_MEMORY, "LargeAllocationCount", "allocations"),
          counted(
                  NO_NAME,
                  Type.COUNTER,
                  NO_UNIT,
                  "Successful native allocations of up to each size, by size",
                  upToEachSize())
              .table(NATIVE_MEMORY, "AllocationsUpTo", "allocations"),
          counted(
                  NO_NAME,
                  Type.GAUGE,
                  BYTES,
                  "The true peak is at most this much above the reported one",
                  untagged(NativeCounters::peakErrorBytes))
              .attribute(NATIVE_MEMORY, "PeakErrorBytes", BYTES),
          counted(
                  NO_NAME,
                  Type.GAUGE,
                  NO_UNIT,
                  "Threads that have allocated or freed native memory and have not ended",
                  untagged(NativeCounters::threads))
              .attribute(NATIVE_MEMORY, "Threads", "threads"),
          always(
                  NO_NAME,
                  Type.GAUGE,
                  BYTES,
                  "The resident set of the process",
                  (snapshot, clock) -> snapshot.memory().residentBytes())
              .attribute(NATIVE_MEMORY, "ResidentBytes", BYTES),
          allocator(
                  NO_NAME,
                  Type.GAUGE,
                  BYTES,
                  "Objects that have a mapping of their own; part of used",
                  AllocatorStatistics::mappedBytes)
              .attribute(ALLOCATOR, "MappedBytes", BYTES),
          allocator(
                  NO_NAME,
                  Type.GAUGE,
                  BYTES,
                  "Part of retained: whole pages that a trim would return, resident or not",
                  AllocatorStatistics::releasableBytes)
              .attribute(ALLOCATOR, "ReleasableBytes", BYTES),
          allocator(
                  NO_NAME,
                  Type.GAUGE,
                  BYTES,
                  "Resident memory as the allocator reports it",
                  AllocatorStatistics::residentBytes)
              .attribute(ALLOCATOR, "ResidentBytes", BYTES),
          new Meter(
                  NO_NAME,
                  Type.GAUGE,
                  NO_UNIT,
                  "Call sites by verdict",
                  when(
                      snapshot -> snapshot.leaks().isPresent(),
                      sites(Verdict.LEAK, LeakSummary::leaking),
                      sites(Verdict.UNUSED, LeakSummary::unused),
                      sites(Verdict.GROWING, LeakSummary::growing),
                      sites(Verdict.POOL, LeakSummary::pools)))
              .table(LEAK_DETECTOR, "Sites", "sites"),
          new Meter(
                  NO_NAME,
                  Type.GAUGE,
                  NO_UNIT,
                  "Call sites with the verdict leak by evidence: lost, outlasted or known",
                  when(
                      snapshot -> snapshot.leaks().isPresent(),
                      evidence(LeakEvidence.LOST, LeakSummary::lost),
                      evidence(LeakEvidence.OUTLASTED, LeakSummary::outlasted),
                      evidence(LeakEvidence.KNOWN, LeakSummary::known)))
              .table(LEAK_DETECTOR, "LeaksByEvidence", "sites"),
          new Meter(
                  NO_NAME,
                  Type.GAUGE,
                  SECONDS,
                  "Time since these statistics were read",
                  snapshot ->
                      snapshot.allocator().isPresent()
                          ? List.of(new Series(List.of(), Meter::allocatorAge))
                          : List.of())
              .attribute(ALLOCATOR, "StatisticsAge", SECONDS));

  /** Returns all meters, in the order of the reference. */
  public static List<Meter> all() {
    return ALL;
  }

  /** The meters that the MBean shows whose name has this key {@code type}. */
  public static List<Meter> shownBy(String bean) {
    return Stream.concat(ALL.stream(), OF_MBEANS.stream())
        .filter(meter -> meter.attribute().filter(shown -> shown.bean().equals(bean)).isPresent())
        .toList();
  }

  private Meter(
      String name,
      Type type,
      String unit,
      String description,
      Function<Snapshot, List<Series>> seriesOf) {
    this(name, type, unit, description, Optional.empty(), seriesOf);
  }

  private Meter attribute(String bean, String attribute, String units) {
    return with(new Attribute(bean, attribute, units, false));
  }

  private Meter table(String bean, String attribute, String units) {
    return with(new Attribute(bean, attribute, units, true));
  }

  private Meter with(Attribute shown) {
    return new Meter(name, type, unit, description, Optional.of(shown), seriesOf);
  }

  /**
   * The series that this meter has while {@code snapshot} is the latest; none if it is not shown.
   * An unknown figure has none: one {@code NaN} would make a sum over processes unknown.
   */
  public List<Series> series(Snapshot snapshot) {
    List<Series> all = seriesOf.apply(snapshot);
    for (int i = 0; i < all.size(); i++) { // by index, without garbage at each poll
      if (isUnknown(all.get(i), snapshot)) {
        return all.size() == 1
            ? List.of()
            : all.stream().filter(known -> !isUnknown(known, snapshot)).toList();
      }
    }
    return all;
  }

  private static boolean isUnknown(Series series, Snapshot snapshot) {
    return Double.isNaN(series.figure().of(snapshot, ANY_TIME));
  }

  /** Series that are there in some snapshots. */
  private static Function<Snapshot, List<Series>> when(
      Predicate<Snapshot> isKnown, Series... series) {
    List<Series> all = List.of(series);
    return snapshot -> isKnown.test(snapshot) ? all : List.of();
  }

  private static Meter counted(
      String name, Type type, String unit, String description, Series... series) {
    return new Meter(
        name, type, unit, description, when(snapshot -> snapshot.process().isPresent(), series));
  }

  private static Meter always(
      String name, Type type, String unit, String description, Figure figure) {
    return new Meter(
        name, type, unit, description, when(snapshot -> true, new Series(List.of(), figure)));
  }

  private static Series untagged(ToDoubleFunction<NativeCounters> figure) {
    return new Series(List.of(), of(Snapshot::process, figure));
  }

  private static Series tagged(String key, String value, ToDoubleFunction<NativeCounters> figure) {
    return new Series(List.of(new Tag(key, value)), of(Snapshot::process, figure));
  }

  /** A figure of a part that a snapshot may lack. */
  private static <T> Figure of(Function<Snapshot, Optional<T>> part, ToDoubleFunction<T> figure) {
    return (snapshot, clock) -> {
      Optional<T> known = part.apply(snapshot);
      return known.isPresent() ? figure.applyAsDouble(known.get()) : Double.NaN;
    };
  }

  /** The classes of the histogram of request sizes, each with all that are smaller. */
  private static Series[] upToEachSize() {
    return IntStream.range(0, SizeDistribution.CLASSES)
        .mapToObj(
            last -> {
              double bound = SizeDistribution.upperBound(last);
              String size = Double.isInfinite(bound) ? "+Inf" : Double.toString(bound);
              return tagged("le", size, counted -> counted.allocationsBySize().upTo(last));
            })
        .toArray(Series[]::new);
  }

  /** Not after an attach, where it can never be known: a sum over processes is to leave it out. */
  private static boolean knowsObjects(Snapshot snapshot) {
    return snapshot.process().isPresent() && baseline(snapshot).equals(Baseline.NONE);
  }

  /** Not without attach. */
  private static boolean knowsBaseline(Snapshot snapshot) {
    return !baseline(snapshot).equals(Baseline.NONE) && baseline(snapshot).known();
  }

  private static Baseline baseline(Snapshot snapshot) {
    return snapshot.process().map(NativeCounters::baseline).orElse(Baseline.NONE);
  }

  /** One series, tagged with the allocator that serves, where it tells the figure. */
  private static Meter allocator(
      String name,
      Type type,
      String unit,
      String description,
      ToDoubleFunction<AllocatorStatistics> figure) {
    return new Meter(
        name,
        type,
        unit,
        description,
        snapshot ->
            snapshot
                .allocator()
                .filter(statistics -> !Double.isNaN(figure.applyAsDouble(statistics)))
                .map(statistics -> List.of(new Tag("allocator", statistics.kind().tag())))
                .map(tags -> List.of(new Series(tags, of(Snapshot::allocator, figure))))
                .orElse(List.of()));
  }

  private static double allocatorAge(Snapshot snapshot, Clock clock) {
    return snapshot.allocator().map(known -> known.ageSeconds(clock)).orElse(Double.NaN);
  }

  /** Sorted by name, so that shares that only change places leave the series as they are. */
  private static Function<Snapshot, List<Series>> shares(
      String key, Function<Snapshot, Optional<List<Share>>> shares) {
    return rows(
        key, snapshot -> shares.apply(snapshot).map(Meter::byName).orElse(Map.of()), name -> name);
  }

  private static Map<String, Double> byName(List<Share> shares) {
    return shares.stream()
        .collect(Collectors.toMap(Share::name, Share::liveBytes, (first, same) -> first));
  }

  /** A series for each row of a table, in the order of the keys. */
  private static <K extends Comparable<? super K>> Function<Snapshot, List<Series>> rows(
      String tag, Function<Snapshot, Map<K, ? extends Number>> table, Function<K, String> value) {
    return snapshot -> {
      Map<K, ? extends Number> known = table.apply(snapshot);
      return known.isEmpty() // without garbage at each poll
          ? List.of()
          : known.keySet().stream()
              .sorted()
              .map(key -> new Series(List.of(new Tag(tag, value.apply(key))), cell(table, key)))
              .toList();
    };
  }

  private static <K> Figure cell(Function<Snapshot, Map<K, ? extends Number>> table, K key) {
    return (snapshot, clock) -> {
      Number known = table.apply(snapshot).get(key);
      return known == null ? Double.NaN : known.doubleValue();
    };
  }

  private static Series leaks(LeakEvidence evidence, ToDoubleFunction<LeakSummary> figure) {
    return sites(Verdict.LEAK, evidence.tag(), figure);
  }

  /** All series of a meter have the same tags. */
  private static Series sites(Verdict verdict, ToDoubleFunction<LeakSummary> figure) {
    return sites(verdict, "", figure);
  }

  private static Series sites(
      Verdict verdict, String evidence, ToDoubleFunction<LeakSummary> figure) {
    return new Series(
        List.of(new Tag("verdict", verdict.tag()), new Tag("evidence", evidence)),
        of(Snapshot::leaks, figure));
  }

  private static Series evidence(LeakEvidence evidence, ToDoubleFunction<LeakSummary> figure) {
    return new Series(List.of(new Tag("evidence", evidence.tag())), of(Snapshot::leaks, figure));
  }

  private static Map<ResidentPart, Long> residentParts(Snapshot snapshot) {
    return snapshot.memory().resident().map(ResidentMemory::parts).orElse(Map.of());
  }

  private static boolean knowsHugePages(Snapshot snapshot) {
    return hugePages(snapshot).isPresent();
  }

  private static Optional<HugePages> hugePages(Snapshot snapshot) {
    Optional<ResidentMemory> split = snapshot.memory().resident();
    return split.isPresent() ? split.get().hugePages() : Optional.empty();
  }

  private static Series huge(ToDoubleFunction<HugePages> figure) {
    return new Series(List.of(), of(Meter::hugePages, figure));
  }

  private static Map<ChargedPart, Long> chargedParts(Snapshot snapshot) {
    return snapshot.memory().cgroup().map(CgroupMemory::parts).orElse(Map.of());
  }

  private static Map<String, Long> cgroupEvents(Snapshot snapshot) {
    return snapshot.memory().cgroup().map(CgroupMemory::events).orElse(Map.of());
  }

  private static Series[] diagnoses() {
    return Stream.of(Diagnosis.State.values())
        .map(
            state ->
                new Series(
                    List.of(new Tag("state", state.tag())),
                    (snapshot, clock) -> snapshot.diagnosis().state() == state ? 1 : 0))
        .toArray(Series[]::new);
  }

  private static List<Series> secondsToLimit(Snapshot snapshot) {
    Limit limit = snapshot.diagnosis().limit();
    if (!Double.isFinite(limit.seconds())) {
      return List.of();
    }
    return Double.isFinite(limit.upperSeconds()) ? BOUNDS : BOUNDS.subList(0, 2);
  }

  private static Series bound(String bound, ToDoubleFunction<Limit> figure) {
    return new Series(
        List.of(new Tag("bound", bound)),
        (snapshot, clock) -> figure.applyAsDouble(snapshot.diagnosis().limit()));
  }

  private static List<Series> previousExit(Snapshot snapshot) {
    Optional<PreviousRun> previous = snapshot.diagnosis().previous();
    return previous.isEmpty()
        ? List.of()
        : List.of(
            new Series(
                List.of(new Tag("reason", previous.get().reason())),
                (latest, clock) -> previous.get().ended().getEpochSecond()));
  }

  /** Series that are there while something is sampled. */
  private static Function<Snapshot, List<Series>> sampling(Series... series) {
    return when(snapshot -> !Double.isNaN(snapshot.self().sampling().samples()), series);
  }

  private static Series dropped(String reason, ToDoubleFunction<SelfReport.Sampling> figure) {
    return new Series(List.of(new Tag("reason", reason)), ofSampling(figure));
  }

  private static Figure ofSampling(ToDoubleFunction<SelfReport.Sampling> figure) {
    return (snapshot, clock) -> figure.applyAsDouble(snapshot.self().sampling());
  }

  private static Meter cgroup(
      String name, String description, ToDoubleFunction<CgroupMemory> figure) {
    List<Series> one =
        List.of(new Series(List.of(), of(snapshot -> snapshot.memory().cgroup(), figure)));
    return new Meter(
        name,
        Type.GAUGE,
        BYTES,
        description,
        snapshot ->
            snapshot
                .memory()
                .cgroup()
                .filter(cgroup -> !Double.isNaN(figure.applyAsDouble(cgroup)))
                .map(cgroup -> one)
                .orElse(List.of()));
  }

  private static List<Series> application(String version) {
    return List.of(new Series(List.of(new Tag("version", version)), (snapshot, clock) -> 1));
  }

  private static Series build(SelfReport self) {
    return new Series(
        List.of(
            new Tag("version", self.build()),
            new Tag("allocator", self.allocator()),
            new Tag("mode", self.mode()),
            new Tag("accounting", self.byteUnit().tag())),
        (snapshot, clock) -> 1);
  }
}
