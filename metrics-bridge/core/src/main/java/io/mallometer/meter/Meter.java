package io.mallometer.meter;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Verdict;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

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
 * @param name Micrometer name
 * @param type counter or gauge
 * @param unit {@code "bytes"}, {@code "seconds"}, {@code "ratio"}, or empty for a number of things
 * @param description what it means, one sentence
 * @param seriesOf the series it has while a given snapshot is the latest
 */
public record Meter(
    String name,
    Type type,
    String unit,
    String description,
    Function<Snapshot, List<Series>> seriesOf) {

  /** How the value moves. */
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

  /** The name, in Micrometer's style, of the histogram of requested sizes, in bytes. */
  public static final String REQUEST_SIZE = "native.malloc.request.size";

  /** What {@link #REQUEST_SIZE} means. */
  public static final String REQUEST_SIZE_DESCRIPTION =
      "Sizes that successful native allocations asked for";

  private static final String BYTES = "bytes";
  private static final String SECONDS = "seconds";
  private static final String RATIO = "ratio";
  private static final String NO_UNIT = "";

  private static final List<Meter> ALL =
      List.of(
          counted(
              "native.malloc.allocations",
              Type.COUNTER,
              NO_UNIT,
              "Successful native allocation calls; small is up to 4096 bytes",
              tagged("size", "small", NativeCounters::smallAllocations),
              tagged("size", "large", NativeCounters::largeAllocations)),
          counted(
              "native.malloc.requested",
              Type.COUNTER,
              BYTES,
              "Memory that successful native allocations asked for",
              untagged(NativeCounters::requestedBytes)),
          counted(
              "native.malloc.allocated",
              Type.COUNTER,
              BYTES,
              "Native memory handed out, in the unit of freed and live",
              untagged(NativeCounters::allocatedBytes)),
          counted(
              "native.malloc.freed",
              Type.COUNTER,
              BYTES,
              "Native memory given back",
              untagged(NativeCounters::freedBytes)),
          counted(
              "native.malloc.frees",
              Type.COUNTER,
              NO_UNIT,
              "Native objects given back",
              untagged(NativeCounters::frees)),
          counted(
              "native.malloc.failed",
              Type.COUNTER,
              NO_UNIT,
              "Native allocation calls that failed",
              untagged(NativeCounters::failed)),
          counted(
              "native.malloc.live",
              Type.GAUGE,
              BYTES,
              "Native memory in use",
              untagged(NativeCounters::liveBytes)),
          counted(
              "native.malloc.peak",
              Type.GAUGE,
              BYTES,
              "The most native memory that was in use since counting began",
              untagged(NativeCounters::peakBytes)),
          new Meter(
              "native.malloc.baseline",
              Type.GAUGE,
              BYTES,
              "Native memory that was in use when mallometer attached; part of live until freed",
              Meter::baselineSeries),
          counted(
              "native.malloc.largest",
              Type.GAUGE,
              BYTES,
              "The largest successful native request since counting began, if above 32 KiB",
              untagged(NativeCounters::largestRequestBytes)),
          new Meter(
              "native.malloc.objects",
              Type.GAUGE,
              NO_UNIT,
              "Native objects in use; unknown after an attach",
              Meter::objectsSeries),
          counted(
              "native.malloc.huge",
              Type.COUNTER,
              NO_UNIT,
              "Successful native allocations above the size MALLOMETER_HUGE",
              untagged(NativeCounters::hugeAllocations)),
          counted(
              "native.malloc.large",
              Type.COUNTER,
              NO_UNIT,
              "Deprecated, the old name of native.malloc.huge",
              untagged(NativeCounters::hugeAllocations)),
          new Meter(
              "native.malloc.library.live",
              Type.GAUGE,
              BYTES,
              "Native memory in use by the library that asked for it, estimated from samples",
              snapshot -> shareSeries(snapshot, "library", SiteSummary::libraries)),
          new Meter(
              "native.malloc.site.live",
              Type.GAUGE,
              BYTES,
              "Native memory in use by the code that asked for it, estimated from samples",
              snapshot -> shareSeries(snapshot, "site", SiteSummary::sites)),
          new Meter(
              "native.malloc.leak.sites",
              Type.GAUGE,
              NO_UNIT,
              "Call sites by what the memory that they hold is",
              snapshot -> snapshot.leaks().isPresent() ? Leaks.SITES : List.of()),
          new Meter(
              "native.malloc.leak.suspected",
              Type.GAUGE,
              BYTES,
              "Native memory that leaking code holds and nothing touched for long, estimated",
              Leaks::suspected),
          allocator(
              "native.allocator.system",
              Type.GAUGE,
              BYTES,
              "Memory that the allocator has from the operating system",
              AllocatorStatistics::systemBytes),
          allocator(
              "native.allocator.used",
              Type.GAUGE,
              BYTES,
              "Memory of the allocator in use, with its overhead for each object",
              AllocatorStatistics::usedBytes),
          allocator(
              "native.allocator.retained",
              Type.GAUGE,
              BYTES,
              "Free memory that the allocator keeps, resident or not",
              AllocatorStatistics::retainedBytes),
          allocator(
              "native.allocator.trimmable",
              Type.GAUGE,
              BYTES,
              "Resident memory that a trim would give back, at least",
              AllocatorStatistics::trimmableBytes),
          allocator(
              "native.allocator.arenas",
              Type.GAUGE,
              NO_UNIT,
              "Arenas of the allocator",
              AllocatorStatistics::arenas),
          allocator(
              "native.allocator.trims",
              Type.COUNTER,
              NO_UNIT,
              "Trims of the allocator by mallometer",
              AllocatorStatistics::trims),
          new Meter(
              "native.memory.resident",
              Type.GAUGE,
              BYTES,
              "Resident memory by what it is; the parts add up to the resident set",
              Meter::residentSeries),
          new Meter(
              "cgroup.memory.charged",
              Type.GAUGE,
              BYTES,
              "Memory charged to the cgroup by what it is; the parts add up to the charge",
              Meter::chargedSeries),
          cgroup(
              "cgroup.memory.limit",
              "The cgroup's memory limit, the lowest in force",
              CgroupMemory::limitBytes),
          cgroup(
              "cgroup.memory.high",
              "Above this the kernel slows the cgroup down and reclaims",
              CgroupMemory::highBytes),
          cgroup(
              "cgroup.memory.working.set",
              "Memory charged to the cgroup without inactive files, as Kubernetes evicts by",
              CgroupMemory::workingSetBytes),
          cgroup("cgroup.memory.swap", "Memory of the cgroup in swap", CgroupMemory::swapBytes),
          new Meter(
              "cgroup.memory.events",
              Type.COUNTER,
              NO_UNIT,
              "How often the cgroup reached high or max, ran out of memory, or had a process killed",
              Meter::eventSeries),
          always(
              "mallometer.active",
              Type.GAUGE,
              NO_UNIT,
              "1 while native allocations are counted, else 0",
              (snapshot, clock) -> snapshot.status().active() ? 1 : 0),
          new Meter(
              "mallometer.state",
              Type.GAUGE,
              NO_UNIT,
              "1 for the state that mallometer is in, 0 for the others",
              snapshot -> States.SERIES),
          new Meter(
              "mallometer.build",
              Type.GAUGE,
              NO_UNIT,
              "Always 1; the tags say what counts: version, allocator below, way in, unit of bytes",
              snapshot -> List.of(buildSeries(snapshot.self()))),
          always(
              "mallometer.snapshot.age",
              Type.GAUGE,
              SECONDS,
              "Time since the counters were read; grows if the poller is stuck",
              Snapshot::ageSeconds),
          always(
              "mallometer.overhead",
              Type.COUNTER,
              SECONDS,
              "Time of samples, and of reading, decoding and recording counters; counting is not in it",
              (snapshot, clock) -> snapshot.self().overheadSeconds()),
          always(
              "mallometer.footprint",
              Type.GAUGE,
              BYTES,
              "Memory that the native library has mapped, resident or not",
              (snapshot, clock) -> snapshot.self().footprintBytes()),
          new Meter(
              "mallometer.overhead.target",
              Type.GAUGE,
              RATIO,
              "Share of one processor's time that samples may take",
              sampling(new Series(List.of(), ofSampling(SelfReport.Sampling::overheadTarget)))),
          new Meter(
              "mallometer.samples",
              Type.COUNTER,
              NO_UNIT,
              "Native allocations that were looked at closely",
              sampling(new Series(List.of(), ofSampling(SelfReport.Sampling::samples)))),
          new Meter(
              "mallometer.samples.dropped",
              Type.COUNTER,
              NO_UNIT,
              "What call sites lack for want of room: samples (no-site), their end (not-followed),"
                  + " and the call paths of allocations (no-path)",
              sampling(
                  dropped("no-site", SelfReport.Sampling::withoutSite),
                  dropped("not-followed", SelfReport.Sampling::notFollowed),
                  dropped("no-path", SelfReport.Sampling::bySizeOnly))));

  /** All meters, in the order in which people read them. */
  public static List<Meter> all() {
    return ALL;
  }

  /**
   * The series that this meter has while {@code snapshot} is the latest; none if it is not shown.
   */
  public List<Series> series(Snapshot snapshot) {
    return seriesOf.apply(snapshot);
  }

  private static Meter counted(
      String name, Type type, String unit, String description, Series... series) {
    List<Series> all = List.of(series);
    return new Meter(
        name,
        type,
        unit,
        description,
        snapshot -> snapshot.process().isPresent() ? all : List.of());
  }

  private static Meter always(
      String name, Type type, String unit, String description, Figure figure) {
    List<Series> one = List.of(new Series(List.of(), figure));
    return new Meter(name, type, unit, description, snapshot -> one);
  }

  private static Series untagged(ToDoubleFunction<NativeCounters> figure) {
    return new Series(List.of(), ofProcess(figure));
  }

  private static Series tagged(String key, String value, ToDoubleFunction<NativeCounters> figure) {
    return new Series(List.of(new Tag(key, value)), ofProcess(figure));
  }

  private static Figure ofProcess(ToDoubleFunction<NativeCounters> figure) {
    return (snapshot, clock) ->
        snapshot.process().isPresent()
            ? figure.applyAsDouble(snapshot.process().get())
            : Double.NaN;
  }

  /** None after an attach, where it can never be known: a sum over processes is to leave it out. */
  private static List<Series> objectsSeries(Snapshot snapshot) {
    return snapshot.process().isPresent() && baseline(snapshot).equals(Baseline.NONE)
        ? OfAttach.OBJECTS
        : List.of();
  }

  /** None without attach, and where it is unknown. */
  private static List<Series> baselineSeries(Snapshot snapshot) {
    Baseline baseline = baseline(snapshot);
    return baseline.equals(Baseline.NONE) || !baseline.known() ? List.of() : OfAttach.BASELINE;
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
    Figure ofSnapshot =
        (snapshot, clock) ->
            snapshot.allocator().isPresent()
                ? figure.applyAsDouble(snapshot.allocator().get())
                : Double.NaN;
    return new Meter(
        name,
        type,
        unit,
        description,
        snapshot ->
            snapshot
                .allocator()
                .filter(statistics -> !Double.isNaN(figure.applyAsDouble(statistics)))
                .map(
                    statistics ->
                        List.of(
                            new Series(
                                List.of(new Tag("allocator", statistics.kind().tag())),
                                ofSnapshot)))
                .orElse(List.of()));
  }

  private static List<Series> shareSeries(
      Snapshot snapshot, String key, Function<SiteSummary, List<SiteSummary.Share>> shares) {
    return snapshot
        .sites()
        .map(
            summary ->
                shares.apply(summary).stream()
                    .map(SiteSummary.Share::name)
                    .sorted()
                    .map(name -> shareSeries(key, name, shares))
                    .toList())
        .orElse(List.of());
  }

  /** Sorted by name, so that shares that only change places leave the series as they are. */
  private static Series shareSeries(
      String key, String name, Function<SiteSummary, List<SiteSummary.Share>> shares) {
    return new Series(
        List.of(new Tag(key, name)),
        (snapshot, clock) ->
            snapshot.sites().map(shares).orElse(List.of()).stream()
                .filter(share -> share.name().equals(name))
                .mapToDouble(SiteSummary.Share::liveBytes)
                .findFirst()
                .orElse(Double.NaN));
  }

  /** Series that are there while something is sampled. */
  private static Function<Snapshot, List<Series>> sampling(Series... series) {
    List<Series> all = List.of(series);
    return snapshot -> Double.isNaN(snapshot.self().sampling().samples()) ? List.of() : all;
  }

  private static Series dropped(String reason, ToDoubleFunction<SelfReport.Sampling> figure) {
    return new Series(List.of(new Tag("reason", reason)), ofSampling(figure));
  }

  private static Figure ofSampling(ToDoubleFunction<SelfReport.Sampling> figure) {
    return (snapshot, clock) -> figure.applyAsDouble(snapshot.self().sampling());
  }

  private static Meter cgroup(
      String name, String description, ToDoubleFunction<CgroupMemory> figure) {
    List<Series> one = List.of(new Series(List.of(), ofCgroup(figure)));
    return new Meter(
        name,
        Type.GAUGE,
        BYTES,
        description,
        snapshot ->
            snapshot.memory().cgroup().isPresent()
                    && !Double.isNaN(figure.applyAsDouble(snapshot.memory().cgroup().get()))
                ? one
                : List.of());
  }

  private static List<Series> residentSeries(Snapshot snapshot) {
    return snapshot
        .memory()
        .resident()
        .map(
            resident -> resident.bytes().keySet().stream().sorted().map(Meter::partSeries).toList())
        .orElse(List.of());
  }

  private static Series partSeries(ResidentPart part) {
    return new Series(
        List.of(new Tag("part", part.tag())),
        (snapshot, clock) ->
            orUnknown(snapshot.memory().resident().flatMap(resident -> resident.of(part))));
  }

  private static List<Series> chargedSeries(Snapshot snapshot) {
    return snapshot
        .memory()
        .cgroup()
        .map(cgroup -> cgroup.bytes().keySet().stream().sorted().map(Meter::partSeries).toList())
        .orElse(List.of());
  }

  private static Series partSeries(ChargedPart part) {
    return new Series(
        List.of(new Tag("part", part.tag())),
        ofCgroup(cgroup -> orUnknown(Optional.ofNullable(cgroup.bytes().get(part)))));
  }

  private static List<Series> eventSeries(Snapshot snapshot) {
    return snapshot
        .memory()
        .cgroup()
        .map(cgroup -> cgroup.events().keySet().stream().sorted().map(Meter::eventSeries).toList())
        .orElse(List.of());
  }

  private static Series eventSeries(String event) {
    return new Series(
        List.of(new Tag("event", event)),
        ofCgroup(cgroup -> orUnknown(Optional.ofNullable(cgroup.events().get(event)))));
  }

  private static Figure ofCgroup(ToDoubleFunction<CgroupMemory> figure) {
    return (snapshot, clock) ->
        snapshot.memory().cgroup().isPresent()
            ? figure.applyAsDouble(snapshot.memory().cgroup().get())
            : Double.NaN;
  }

  private static double orUnknown(Optional<Long> value) {
    return value.isPresent() ? value.get() : Double.NaN;
  }

  /** Apart for the same reason as {@link States}. */
  private static final class Leaks {
    static final List<Series> SITES =
        List.of(of(Verdict.LEAK), of(Verdict.UNUSED), of(Verdict.GROWING), of(Verdict.POOL));

    private static Series of(Verdict verdict) {
      return new Series(
          List.of(new Tag("verdict", verdict.tag())),
          (snapshot, clock) ->
              orUnknown(snapshot.leaks().map(known -> (long) known.sites(verdict))));
    }

    static List<Series> suspected(Snapshot snapshot) {
      return snapshot.leaks().map(LeakSummary::suspected).orElse(List.of()).stream()
          .map(SiteSummary.Share::name)
          .sorted()
          .map(Leaks::suspected)
          .toList();
    }

    private static Series suspected(String name) {
      return new Series(
          List.of(new Tag("site", name)),
          (snapshot, clock) ->
              snapshot.leaks().map(LeakSummary::suspected).orElse(List.of()).stream()
                  .filter(share -> share.name().equals(name))
                  .mapToDouble(SiteSummary.Share::liveBytes)
                  .findFirst()
                  .orElse(Double.NaN));
    }
  }

  /** Apart for the same reason as {@link States}. */
  private static final class OfAttach {
    static final List<Series> OBJECTS = List.of(untagged(NativeCounters::liveObjects));
    static final List<Series> BASELINE = List.of(untagged(counted -> counted.baseline().bytes()));
  }

  /** Apart, because the list of meters is built before what follows it in this file. */
  private static final class States {
    static final List<Series> SERIES =
        Arrays.stream(State.values()).map(Meter::stateSeries).toList();
  }

  private static Series stateSeries(State state) {
    return new Series(
        List.of(new Tag("state", state.tag())),
        (snapshot, clock) -> snapshot.status().state() == state ? 1 : 0);
  }

  private static Series buildSeries(SelfReport self) {
    return new Series(
        List.of(
            new Tag("version", self.build()),
            new Tag("allocator", self.allocator()),
            new Tag("mode", self.mode()),
            new Tag("accounting", self.byteUnit().tag())),
        (snapshot, clock) -> 1);
  }
}
