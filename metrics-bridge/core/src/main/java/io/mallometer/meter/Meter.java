package io.mallometer.meter;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Component;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.FigureTree;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteSummary.Share;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The meters, listed once for all outputs. Meters without labels are declared by annotations
 * ({@link io.mallometer.model.Figure}) of record components. All other meters are listed in this
 * class. Each meter takes its meaning, unit and type from a record component.
 *
 * <p>Names are in Micrometer's style. Prometheus replaces dots by underscores, appends the unit,
 * and ends counters in {@code _total}: {@code native.malloc.requested} in bytes becomes {@code
 * native_malloc_requested_bytes_total}.
 *
 * <p>A meter has series only while its values are known. {@code native.malloc.*} needs counting.
 * {@code native.allocator.*} needs an allocator that reports the values. {@code
 * mallometer.samples*} needs sampling. {@code native.memory.*} and {@code cgroup.*} need only the
 * operating system.
 *
 * <p>The list omits the histogram {@link #REQUEST_SIZE}, because Micrometer has no such meter.
 */
public final class Meter {

  /** The way in which the value of a meter changes. */
  public enum Type {
    /** A number that only grows while the process lives. */
    COUNTER,
    /** A number that goes up and down. */
    GAUGE
  }

  /** A tag (label) of a series. */
  public record Tag(String key, String value) {}

  /**
   * Computes the value of a series from a snapshot and the present time; {@code NaN} if unknown.
   */
  @FunctionalInterface
  public interface Figure {
    double of(Snapshot snapshot, Clock clock);
  }

  /** A series of a meter: its tags and its value. */
  public record Series(List<Tag> tags, Figure figure) {}

  /**
   * An attribute of an MBean.
   *
   * @param bean the key {@code type} of the MBean's name
   * @param name the attribute's name
   * @param isTable whether the attribute is a table with a row for each series; otherwise it is the
   *     sum of the series
   */
  public record Attribute(String bean, String name, boolean isTable) {}

  /**
   * A record in the snapshot, and the MBean that shows it. {@code in} returns the record, or null
   * if the record is unknown.
   */
  private record Part<T extends Record>(
      String bean, Class<T> kind, Function<Snapshot, @Nullable T> in) {

    Cell cell(String component) {
      return new Cell(this, component);
    }

    Stream<Meter> stated() {
      return Component.of(kind).stream()
          .filter(one -> !one.meter().isEmpty() || !one.attribute().isEmpty())
          .map(this::stated);
    }

    private Meter stated(Component component) {
      Cell cell = cell(component.name());
      Meter meter =
          this == STATISTICS
              ? new Meter(component.meter(), cell, named(cell, SERVING))
              : of(component.meter(), cell);
      return component.attribute().isEmpty() ? meter : meter.attribute(component.attribute());
    }
  }

  /** A component of a record in the snapshot. */
  private static final class Cell implements Figure {

    private final Part<?> part;
    private final String name;
    private @Nullable Component component;

    Cell(Part<?> part, String name) {
      this.part = part;
      this.name = name;
    }

    /**
     * Looks up the component at the first call. Needs no lock, because every thread finds the same
     * component.
     */
    Component component() {
      @Nullable Component known = component;
      if (known == null) {
        known = Component.of(part.kind(), name);
        component = known;
      }
      return known;
    }

    @Nullable Object value(Snapshot snapshot) {
      @Nullable Record fields = part.in().apply(snapshot);
      @Nullable Object value = fields == null ? null : component().valueIn(fields);
      return value instanceof Optional<?> known ? known.orElse(null) : value;
    }

    @Override
    public double of(Snapshot snapshot, Clock clock) {
      @Nullable Record fields = part.in().apply(snapshot);
      return fields == null ? Double.NaN : component().numberIn(fields);
    }

    Series tagged(String key, String value) {
      return new Series(List.of(new Tag(key, value)), this);
    }

    /**
     * Returns the series with the tags {@code verdict} and {@code evidence}. Verdicts other than a
     * leak have an empty tag {@code evidence}, because all series of a meter need the same tags.
     */
    Series tagged(Verdict verdict, String evidence) {
      return new Series(
          List.of(new Tag("verdict", verdict.tag()), new Tag("evidence", evidence)), this);
    }
  }

  private record Label(String key, Cell cell) {}

  private static final String NATIVE_MEMORY = "NativeMemory";
  private static final String ALLOCATOR = "Allocator";
  private static final String CALL_SITES = "CallSites";
  private static final String LEAK_DETECTOR = "LeakDetector";

  private static final Part<Snapshot> SNAPSHOT =
      new Part<>(NATIVE_MEMORY, Snapshot.class, all -> all);
  private static final Part<Status> STATUS =
      new Part<>(NATIVE_MEMORY, Status.class, Snapshot::status);
  private static final Part<NativeCounters> COUNTERS =
      new Part<>(NATIVE_MEMORY, NativeCounters.class, all -> all.process().orElse(null));
  private static final Part<Baseline> BASELINE =
      new Part<>(
          NATIVE_MEMORY,
          Baseline.class,
          all -> all.process().flatMap(NativeCounters::allocatedBefore).orElse(null));
  private static final Part<SelfReport> SELF =
      new Part<>(NATIVE_MEMORY, SelfReport.class, Snapshot::self);
  private static final Part<SelfReport.Sampling> SAMPLING =
      new Part<>(CALL_SITES, SelfReport.Sampling.class, all -> all.self().sampling());
  private static final Part<AllocatorStatistics> STATISTICS =
      new Part<>(ALLOCATOR, AllocatorStatistics.class, all -> all.allocator().orElse(null));
  private static final Part<ProcessMemory> MEMORY =
      new Part<>(NATIVE_MEMORY, ProcessMemory.class, Snapshot::memory);
  private static final Part<ResidentMemory> RESIDENT =
      new Part<>(NATIVE_MEMORY, ResidentMemory.class, all -> all.memory().resident().orElse(null));
  private static final Part<ResidentMemory.HugePages> HUGE_PAGES =
      new Part<>(
          NATIVE_MEMORY,
          ResidentMemory.HugePages.class,
          all -> all.memory().resident().flatMap(ResidentMemory::hugePages).orElse(null));
  private static final Part<CgroupMemory> CGROUP =
      new Part<>(NATIVE_MEMORY, CgroupMemory.class, all -> all.memory().cgroup().orElse(null));
  private static final Part<SiteSummary> SITES =
      new Part<>(CALL_SITES, SiteSummary.class, all -> all.sites().orElse(null));
  private static final Part<LeakSummary> LEAKS =
      new Part<>(LEAK_DETECTOR, LeakSummary.class, all -> all.leaks().orElse(null));
  private static final Part<PoolReport> POOLS =
      new Part<>(NATIVE_MEMORY, PoolReport.class, all -> all.pools().orElse(null));
  private static final Part<Diagnosis> DIAGNOSIS =
      new Part<>(NATIVE_MEMORY, Diagnosis.class, Snapshot::diagnosis);
  private static final Part<Limit> LIMIT =
      new Part<>(
          NATIVE_MEMORY,
          Limit.class,
          all -> {
            Limit limit = all.diagnosis().limit();
            return Double.isFinite(limit.seconds()) ? limit : null;
          });
  private static final Part<PreviousRun> PREVIOUS =
      new Part<>(NATIVE_MEMORY, PreviousRun.class, all -> all.diagnosis().previous().orElse(null));

  /** The name of the histogram of requested sizes, in bytes, in Micrometer's style. */
  public static final String REQUEST_SIZE = "native.malloc.request.size";

  private static final Cell REQUEST_SIZES = COUNTERS.cell("requestSizes");

  /**
   * A fixed time at which values are computed only to see whether they are known. The choice of the
   * time does not affect the result.
   */
  private static final Clock ANY_TIME = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

  private static final Label SERVING = new Label("allocator", STATISTICS.cell("kind"));

  /** The meters that have labels, or whose value comes from more than one component. */
  private static final List<Meter> ROWS =
      List.of(
          of(
                  "native.malloc.allocations",
                  COUNTERS.cell("allocations"),
                  COUNTERS.cell("smallAllocations").tagged("size", "small"),
                  COUNTERS.cell("largeAllocations").tagged("size", "large"))
              .attribute("AllocationCount"),
          of("", REQUEST_SIZES, upToEachSize())
              .noting("; for each size those of up to it")
              .table("AllocationsUpTo"),
          ofRows("native.malloc.library.live", "library", SITES.cell("libraries"))
              .table("LiveByLibrary"),
          ofRows("native.malloc.site.live", "site", SITES.cell("sites")).table("LiveBySite"),
          ofRows("native.memory.site.resident", "site", SITES.cell("residentSites"))
              .table("ResidentBySite"),
          of(
              "native.malloc.leak.sites",
              SNAPSHOT.cell("leaks"),
              LEAKS.cell("lost").tagged(Verdict.LEAK, LeakEvidence.LOST.tag()),
              LEAKS.cell("outlasted").tagged(Verdict.LEAK, LeakEvidence.OUTLASTED.tag()),
              LEAKS.cell("known").tagged(Verdict.LEAK, LeakEvidence.KNOWN.tag()),
              LEAKS.cell("unused").tagged(Verdict.UNUSED, ""),
              LEAKS.cell("growing").tagged(Verdict.GROWING, ""),
              LEAKS.cell("waiting").tagged(Verdict.WAITS_FOR_GC, ""),
              LEAKS.cell("pools").tagged(Verdict.POOL, "")),
          of(
                  "",
                  SNAPSHOT.cell("leaks"),
                  LEAKS.cell("leaking").tagged("verdict", Verdict.LEAK.tag()),
                  LEAKS.cell("unused").tagged("verdict", Verdict.UNUSED.tag()),
                  LEAKS.cell("growing").tagged("verdict", Verdict.GROWING.tag()),
                  LEAKS.cell("waiting").tagged("verdict", Verdict.WAITS_FOR_GC.tag()),
                  LEAKS.cell("pools").tagged("verdict", Verdict.POOL.tag()))
              .table(LEAK_DETECTOR, "Sites"),
          of(
                  "",
                  LEAKS.cell("leaking"),
                  LEAKS.cell("lost").tagged("evidence", LeakEvidence.LOST.tag()),
                  LEAKS.cell("outlasted").tagged("evidence", LeakEvidence.OUTLASTED.tag()),
                  LEAKS.cell("known").tagged("evidence", LeakEvidence.KNOWN.tag()))
              .table("LeaksByEvidence"),
          ofRows("native.malloc.leak.suspected", "site", LEAKS.cell("suspected"))
              .table("SuspectedBytes"),
          ofRows("native.malloc.leak.unused", "site", LEAKS.cell("unusedBytes"))
              .table("UnusedBytes"),
          ofRows("native.memory.resident", "part", RESIDENT.cell("parts")).table("ResidentParts"),
          ofRows("cgroup.memory.charged", "part", CGROUP.cell("parts")).table("CgroupParts"),
          ofRows("cgroup.memory.events", "event", CGROUP.cell("events")).table("CgroupEvents"),
          of(
                  "mallometer.active",
                  STATUS.cell("state"),
                  computed((snapshot, clock) -> snapshot.status().active() ? 1 : 0))
              .noting("; 1 while they are, else 0"),
          info(
              "mallometer.build.info",
              SNAPSHOT.cell("self"),
              new Label("version", SELF.cell("build")),
              new Label("allocator", SELF.cell("allocator")),
              new Label("mode", SELF.cell("mode")),
              new Label("accounting", SELF.cell("byteUnit"))),
          info(
              "mallometer.application.info",
              SNAPSHOT.cell("applicationVersion"),
              new Label("version", SNAPSHOT.cell("applicationVersion"))),
          of("mallometer.snapshot.age", SNAPSHOT.cell("time"), computed(Snapshot::ageSeconds))
              .noting("; as a number the seconds since then, which grow if the poller is stuck")
              .attribute("SnapshotAge"),
          of("", STATISTICS.cell("time"), computed(Meter::statisticsAge))
              .noting("; as a number the seconds since then")
              .attribute("StatisticsAge"),
          of("mallometer.diagnosis", DIAGNOSIS.cell("state"), states())
              .noting("; 1 for this one, 0 for the others")
              .table("DiagnosisStates"),
          of(
                  "mallometer.time.to.limit",
                  LIMIT.cell("seconds"),
                  LIMIT.cell("lowerSeconds").tagged("bound", "lower"),
                  LIMIT.cell("seconds").tagged("bound", "estimate"),
                  LIMIT.cell("upperSeconds").tagged("bound", "upper"))
              .table("TimeToLimitSeconds"),
          new Meter(
                  "mallometer.previous.exit.timestamp",
                  PREVIOUS.cell("ended"),
                  named(PREVIOUS.cell("ended"), new Label("reason", PREVIOUS.cell("reason"))))
              .table("PreviousExitTimestampSeconds"),
          of(
                  "mallometer.samples.dropped",
                  SELF.cell("sampling"),
                  SAMPLING.cell("noSite").tagged("reason", "no_site"),
                  SAMPLING.cell("notFollowed").tagged("reason", "not_followed"),
                  SAMPLING.cell("noPath").tagged("reason", "no_path"))
              .noting(
                  "; this counts what full tables lack: call sites of samples (no_site), their"
                      + " ends (not_followed), and paths of allocations (no_path)")
              .table(CALL_SITES, "DroppedSamples"));

  /**
   * Holds all meters and attributes. The class is nested so that the components of the snapshot's
   * records are read by reflection only at its first use.
   */
  private static final class All {

    static final List<Meter> METERS =
        Stream.concat(
                ROWS.stream(),
                Stream.of(
                        COUNTERS,
                        BASELINE,
                        SELF,
                        SAMPLING,
                        STATISTICS,
                        MEMORY,
                        HUGE_PAGES,
                        CGROUP,
                        POOLS)
                    .flatMap(Part::stated))
            .toList();

    static final List<Meter> NAMED =
        METERS.stream().filter(meter -> !meter.name().isEmpty()).toList();

    private All() {}
  }

  private final String name;
  private final Cell cell;
  private final Function<Snapshot, List<Series>> lines;
  private final String note;
  private final Optional<Attribute> attribute;

  private Meter(
      String name,
      Cell cell,
      Function<Snapshot, List<Series>> lines,
      String note,
      Optional<Attribute> attribute) {
    this.name = name;
    this.cell = cell;
    this.lines = lines;
    this.note = note;
    this.attribute = attribute;
  }

  private Meter(String name, Cell cell, Function<Snapshot, List<Series>> lines) {
    this(name, cell, lines, "", Optional.empty());
  }

  /** Returns all meters. */
  public static List<Meter> all() {
    return All.NAMED;
  }

  /**
   * Returns the meters that an MBean shows.
   *
   * @param bean the value of {@code type} in the MBean's name
   */
  public static List<Meter> shownBy(String bean) {
    return All.METERS.stream()
        .filter(meter -> meter.attribute().filter(shown -> shown.bean().equals(bean)).isPresent())
        .toList();
  }

  /** Returns the meaning of {@link #REQUEST_SIZE}. */
  public static String requestSizeDescription() {
    return REQUEST_SIZES.component().meaning();
  }

  /** Returns the name in Micrometer's style. Empty for a value that only an MBean shows. */
  public String name() {
    return name;
  }

  /** Returns how the value changes. */
  public Type type() {
    return cell.component().grows() ? Type.COUNTER : Type.GAUGE;
  }

  /** Returns {@code bytes}, {@code seconds} or {@code ratio}; empty for a count. */
  public String unit() {
    Component component = cell.component();
    return switch (component.unit()) {
      case BYTES -> "bytes";
      case SECONDS -> "seconds";
      case RATIO -> "ratio";
      default -> component.type() == Instant.class ? "seconds" : "";
    };
  }

  /** Returns what the meter measures, without a full stop at the end. */
  public String description() {
    return cell.component().meaning() + note;
  }

  /** Returns the attribute of an MBean that shows the meter; empty if there is none. */
  public Optional<Attribute> attribute() {
    return attribute;
  }

  /**
   * Returns the series of this meter in a snapshot. Omits unknown values, because one {@code NaN}
   * would make a sum over processes unknown.
   */
  public List<Series> series(Snapshot snapshot) {
    List<Series> all = lines.apply(snapshot);
    int unknown = 0;
    // A for-each loop would allocate an iterator at each poll.
    for (int i = 0; i < all.size(); i++) {
      unknown += isUnknown(all.get(i), snapshot) ? 1 : 0;
    }
    if (unknown == 0) {
      return all;
    }
    return unknown == all.size()
        ? List.of()
        : all.stream().filter(known -> !isUnknown(known, snapshot)).toList();
  }

  private static boolean isUnknown(Series series, Snapshot snapshot) {
    return !Double.isFinite(series.figure().of(snapshot, ANY_TIME));
  }

  private Meter noting(String words) {
    return new Meter(name, cell, lines, words, attribute);
  }

  private Meter attribute(String shown) {
    return with(new Attribute(cell.part.bean(), shown, false));
  }

  private Meter table(String shown) {
    return table(cell.part.bean(), shown);
  }

  private Meter table(String bean, String shown) {
    return with(new Attribute(bean, shown, true));
  }

  private Meter with(Attribute shown) {
    return new Meter(name, cell, lines, note, Optional.of(shown));
  }

  private static Meter of(String name, Cell cell, Series... series) {
    List<Series> all = series.length > 0 ? List.of(series) : List.of(computed(cell));
    return new Meter(name, cell, snapshot -> all);
  }

  private static Meter ofRows(String name, String tag, Cell cell) {
    return new Meter(name, cell, rows(tag, cell));
  }

  private static Meter info(String name, Cell cell, Label... tags) {
    return new Meter(name, cell, named((snapshot, clock) -> 1, tags))
        .noting(
            "; always 1, with the tags "
                + Stream.of(tags).map(Label::key).collect(Collectors.joining(", ")));
  }

  private static Series computed(Figure figure) {
    return new Series(List.of(), figure);
  }

  /**
   * Returns a function that makes one series, with tags from the snapshot. The function returns no
   * series while the value of the series or of a tag is unknown.
   */
  private static Function<Snapshot, List<Series>> named(Figure figure, Label... labels) {
    return snapshot -> {
      if (Double.isNaN(figure.of(snapshot, ANY_TIME))) {
        return List.of(); // Returns early to avoid an allocation at each poll.
      }
      Tag[] tags = new Tag[labels.length];
      for (int i = 0; i < tags.length; i++) {
        @Nullable Object text = FigureTree.of(labels[i].cell().value(snapshot));
        if (text == null) {
          return List.of();
        }
        tags[i] = new Tag(labels[i].key(), text.toString());
      }
      return List.of(new Series(List.of(tags), figure));
    };
  }

  /**
   * Returns a series for each row of a table. Sorts the rows by key, so that the series stay the
   * same if the rows change their order.
   */
  private static Function<Snapshot, List<Series>> rows(String tag, Cell table) {
    return snapshot -> {
      @Nullable Object known = table.value(snapshot);
      return known == null // Avoids a stream, which would allocate at each poll.
          ? List.of()
          : keys(known)
              .sorted()
              .map(
                  key ->
                      new Series(
                          List.of(new Tag(tag, String.valueOf(FigureTree.of(key)))),
                          (latest, clock) -> row(table.value(latest), key)))
              .toList();
    };
  }

  private static Stream<?> keys(Object table) {
    return table instanceof Map<?, ?> map
        ? map.keySet().stream()
        : ((Collection<?>) table).stream().map(share -> ((Share) share).name()).distinct();
  }

  private static double row(@Nullable Object table, Object key) {
    if (table instanceof Map<?, ?> map && map.get(key) instanceof Number number) {
      return number.doubleValue();
    }
    if (table instanceof Collection<?> shares) {
      for (Object share : shares) {
        if (((Share) share).name().equals(key)) {
          return ((Share) share).liveBytes();
        }
      }
    }
    return Double.NaN;
  }

  /**
   * Returns a series for each size class. Its value is the number of allocations up to the largest
   * size of the class.
   */
  private static Series[] upToEachSize() {
    return IntStream.range(0, SizeDistribution.CLASSES)
        .mapToObj(
            last -> {
              double bound = SizeDistribution.upperBound(last);
              String size = Double.isInfinite(bound) ? "+Inf" : Double.toString(bound);
              return new Series(
                  List.of(new Tag("le", size)),
                  (snapshot, clock) ->
                      snapshot
                          .process()
                          .map(counted -> (double) counted.allocationsBySize().upTo(last))
                          .orElse(Double.NaN));
            })
        .toArray(Series[]::new);
  }

  private static double statisticsAge(Snapshot snapshot, Clock clock) {
    return snapshot.allocator().map(known -> known.ageSeconds(clock)).orElse(Double.NaN);
  }

  private static Series[] states() {
    return Stream.of(Diagnosis.State.values())
        .map(
            state ->
                new Series(
                    List.of(new Tag("state", state.tag())),
                    (snapshot, clock) -> snapshot.diagnosis().state() == state ? 1 : 0))
        .toArray(Series[]::new);
  }
}
