package io.mallometer.internal.diagnosis;

import io.mallometer.internal.leak.Trend;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.internal.text.Words;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Count;
import io.mallometer.model.Account.FilePages;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.CallSite;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Estimate;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.StackFrame;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Makes the account of a window from the readings in it. Every row is a series of bytes, one for
 * each reading; all rows together are the series of the total.
 */
final class AccountTable {

  /** The fewest readings of an account. */
  private static final int FEWEST_READINGS = 3;

  /** An end of the window is the mean of the readings of such a time, in seconds. */
  private static final double END_SECONDS = 50;

  /** A row that grows in the last third of the window by less than this share has stopped. */
  private static final double STOPPED = 0.1;

  /** A counted row has ended after this many times the time between its first and last rise. */
  private static final double STEPS_ENDED = 3;

  /** Counts and files that changed by less are not listed. */
  private static final double LEAST_COUNT = 10;

  private static final double LEAST_FILE_BYTES = 1 << 20;
  private static final int MOST_LISTED = 5;
  private static final double MINUTE = 60;

  /** Of more readings only some are used between the ends: an interval needs all pairs. */
  private static final int MOST_READINGS = 40;

  /** The interval of a row that changed by less is not computed: the row is named nowhere. */
  private static final double LEAST_ROW_BYTES = 64 << 10;

  /** The most call sites with a row of their own. */
  private static final int MOST_SITES = 20;

  private record SiteSeries(SiteTrends.Group group, double[] bytes) {}

  private final List<Reading> readings;
  private final Optional<SiteTrends> sites;
  private final Optional<MemoryBudget> budget;
  private final double[] seconds;
  private final double endSeconds;
  private final List<Row> rows = new ArrayList<>();

  /** The total less the rows that were added. */
  private final double[] rest;

  private AccountTable(
      List<Reading> readings,
      Optional<SiteTrends> sites,
      Optional<MemoryBudget> budget,
      double[] total,
      double endSeconds) {
    this.endSeconds = endSeconds;
    this.readings = readings;
    this.sites = sites;
    this.budget = budget;
    Instant start = readings.get(0).time();
    this.seconds =
        readings.stream()
            .mapToDouble(reading -> Duration.between(start, reading.time()).toNanos() / 1e9)
            .toArray();
    this.rest = total.clone();
  }

  /**
   * Returns the account of the readings from a time on; empty if there are fewer than three.
   *
   * @param all the readings, oldest first
   * @param sites what call sites held meanwhile; empty if they are not known
   * @param from the start of the window
   * @param lastTrough the end of the window of what swings: its ends are single readings, as the
   *     means of a minute would depend on the swing; empty for a window until now
   * @param charged whether the total is what the kernel charges, else the resident set
   * @param budget the configured sizes
   */
  static Optional<Account> of(
      List<Reading> all,
      Optional<SiteTrends> sites,
      Instant from,
      Optional<Instant> lastTrough,
      boolean charged,
      Optional<MemoryBudget> budget) {
    List<Reading> window =
        all.stream()
            .filter(one -> !one.time().isBefore(from))
            .filter(one -> lastTrough.isEmpty() || !one.time().isAfter(lastTrough.get()))
            .toList();
    if (window.size() < FEWEST_READINGS) {
      return Optional.empty();
    }
    window = thinned(window);
    double[] total =
        window.stream()
            .mapToDouble(charged ? Reading::chargedBytes : Reading::residentBytes)
            .toArray();
    return Optional.of(
        new AccountTable(window, sites, budget, total, lastTrough.isPresent() ? 0 : END_SECONDS)
            .account(charged, total));
  }

  private static List<Reading> thinned(List<Reading> readings) {
    int step = (readings.size() + MOST_READINGS - 1) / MOST_READINGS;
    int ends = 4;
    return IntStream.range(0, readings.size())
        .filter(i -> i % step == 0 || i < ends || i >= readings.size() - ends)
        .mapToObj(readings::get)
        .toList();
  }

  private Account account(boolean charged, double[] total) {
    addJvm();
    addMalloc();
    addOthers();
    if (charged) {
      addCharged();
    }
    rows.add(row(Kind.UNATTRIBUTED, rest));
    rows.removeIf(row -> row.bytes() == 0 && row.growthBytes() == 0);
    rows.sort(Comparator.comparingDouble(Row::growthBytes).reversed());
    return new Account(
        readings.get(0).time(),
        readings.get(readings.size() - 1).time(),
        charged ? Account.CHARGED : Account.RESIDENT,
        row(Kind.TOTAL, total),
        rows,
        counts(),
        files());
  }

  // ---- Rows

  private void addJvm() {
    for (Kind kind : List.of(Kind.HEAP, Kind.METASPACE, Kind.CODE)) {
      add(kind, reading -> bytes(reading, kind));
    }
    add(Kind.STACKS, part(ResidentPart.THREAD_STACKS));
    add(
        Kind.JVM,
        reading ->
            reading.of(ResidentPart.GC_AND_JVM) - reading.mallocBytes() + dividedMalloc(reading));
  }

  /** Returns the bytes of a row that may have a configured maximum. */
  static double bytes(Reading reading, Kind kind) {
    return switch (kind) {
      case HEAP -> reading.of(ResidentPart.JAVA_HEAP);
      case METASPACE -> reading.of(ResidentPart.METASPACE) + reading.of(ResidentPart.CLASS_SPACE);
      case CODE -> reading.of(ResidentPart.CODE_CACHE);
      default -> throw new IllegalArgumentException(kind.tag());
    };
  }

  /** Returns the memory of malloc in parts of its own; the JVM's own may be in another part. */
  private static double dividedMalloc(Reading reading) {
    return reading.of(ResidentPart.DIRECT_BUFFERS)
        + reading.of(ResidentPart.MALLOC_LIVE)
        + reading.of(ResidentPart.MALLOC_RETAINED)
        + reading.of(ResidentPart.MALLOC);
  }

  private void addMalloc() {
    if (readings.stream().anyMatch(reading -> Double.isNaN(reading.liveBytes()))) {
      add(Kind.MALLOC, Reading::mallocBytes);
      return;
    }
    double[] unsampled = series(Reading::liveBytes);
    List<SiteSeries> held = new ArrayList<>();
    for (SiteTrends.Group group : sites.map(SiteTrends::groups).orElse(List.of())) {
      held.add(new SiteSeries(group, interpolated(group.history())));
    }
    held.sort(Comparator.comparingDouble((SiteSeries site) -> -Math.abs(growth(site.bytes()))));
    double[] others = new double[rest.length];
    for (SiteSeries site : held) {
      boolean listed = rows.stream().filter(row -> row.kind() == Kind.SITE).count() < MOST_SITES;
      if (listed) {
        rows.add(site(site.group(), site.bytes()));
      }
      for (int i = 0; i < rest.length; i++) {
        unsampled[i] -= site.bytes()[i];
        others[i] += listed ? 0 : site.bytes()[i];
      }
      take(site.bytes());
    }
    rows.add(row(Kind.OTHER_SITES, others));
    rows.add(row(Kind.SAMPLING, unsampled));
    take(unsampled);
    add(Kind.RETAINED, reading -> reading.mallocBytes() - reading.liveBytes());
  }

  private void addOthers() {
    add(Kind.COPIES, reading -> reading.copiedFileBytes());
    add(Kind.SHARED, part(ResidentPart.SHARED_MEMORY));
    add(Kind.MALLOMETER, part(ResidentPart.MALLOMETER));
    add(Kind.ANONYMOUS, part(ResidentPart.UNEXPLAINED));
  }

  private void addCharged() {
    add(Kind.KERNEL, reading -> reading.of(ChargedPart.KERNEL));
    add(
        Kind.TMPFS,
        reading ->
            Math.max(0, reading.of(ChargedPart.TMPFS) - reading.of(ResidentPart.SHARED_MEMORY)));
    add(Kind.SOCKETS, reading -> reading.of(ChargedPart.SOCKETS));
    add(Kind.OTHERS, reading -> reading.of(ChargedPart.OTHER_PROCESSES));
  }

  private static ToDoubleFunction<Reading> part(ResidentPart part) {
    return reading -> reading.of(part);
  }

  private void add(Kind kind, ToDoubleFunction<Reading> figure) {
    double[] series = series(figure);
    rows.add(row(kind, series));
    take(series);
  }

  private void take(double[] series) {
    for (int i = 0; i < rest.length; i++) {
      rest[i] -= series[i];
    }
  }

  private double[] series(ToDoubleFunction<Reading> figure) {
    return readings.stream().mapToDouble(figure).toArray();
  }

  private Row row(Kind kind, double[] series) {
    Slope interval = interval(series);
    return new Row(
        kind,
        kind.words(),
        kind == Kind.STACKS ? starter() : "",
        series[series.length - 1],
        growth(series),
        interval.lower(),
        growth(series) / span(),
        interval.upper(),
        true,
        plateau(series),
        maximum(kind));
  }

  /**
   * A site's growth is estimated: the interval covers the samples' error and the series' swings.
   */
  private Row site(SiteTrends.Group group, double[] series) {
    Estimate live = group.figures().liveBytes();
    double growth = growth(series);
    double share = live.value() > 0 ? Math.min(1, Math.abs(growth) / live.value()) : 0;
    Estimate grown =
        new Estimate(
            Math.abs(growth),
            live.variance() * share,
            Math.round(group.figures().liveObjects().samples() * share));
    boolean exact = live.variance() == 0;
    Slope interval = interval(series);
    Steps steps = steps(series);
    double low = growth > 0 ? grown.low() : -grown.high();
    double high = growth > 0 ? grown.high() : -grown.low();
    return new Row(
        Kind.SITE,
        group.figures().key(),
        group.largest().stream()
            .map(site -> place(site, group.figures().key()))
            .filter(place -> !place.isEmpty())
            .findFirst()
            .orElse(""),
        series[series.length - 1],
        growth,
        exact
            ? Math.max(interval.lower(), steps.lower())
            : Math.min(interval.lower(), low / span()),
        growth / span(),
        exact ? interval.upper() : Math.max(interval.upper(), high / span()),
        exact,
        exact && steps.lower() > 0 ? steps.ended() : plateau(series),
        Double.NaN);
  }

  /**
   * The rises of a series that is counted, such as a buffer that realloc doubles.
   *
   * @param lower the growth in a second without the largest rise; 0 if the series also fell
   * @param ended whether no rise came for three times as long as the rises took
   */
  private record Steps(double lower, boolean ended) {}

  private Steps steps(double[] series) {
    double largest = 0;
    int first = 0;
    int last = 0;
    for (int i = 1; i < series.length; i++) {
      double rise = series[i] - series[i - 1];
      if (rise < -LEAST_ROW_BYTES) {
        return new Steps(0, true);
      }
      if (rise > LEAST_ROW_BYTES) {
        largest = Math.max(largest, rise);
        first = first == 0 ? i : first;
        last = i;
      }
    }
    double whole = series[series.length - 1] - series[0];
    double since = seconds[seconds.length - 1] - seconds[last];
    return new Steps(
        Math.max(0, whole - largest - LEAST_ROW_BYTES) / span(),
        since > STEPS_ENDED * (seconds[last] - seconds[first]));
  }

  private static String place(CallSite site, String name) {
    for (StackFrame frame : site.frames()) {
      if (frame.kind() == StackFrame.Kind.JAVA
          && frame.function().equals(name)
          && !frame.source().isEmpty()) {
        return frame.source() + (frame.line() > 0 ? ":" + frame.line() : "");
      }
    }
    return "";
  }

  /** Returns the call site below whose frames most memory of new threads was allocated. */
  private String starter() {
    return sites.map(SiteTrends::groups).orElse(List.of()).stream()
        .filter(group -> group.largest().stream().anyMatch(AccountTable::startsThreads))
        .max(Comparator.comparingDouble(group -> growth(interpolated(group.history()))))
        .map(
            group -> {
              String name = group.figures().key();
              String place = place(group.largest().get(0), name);
              return Words.shortName(name) + (place.isEmpty() ? "" : " (" + place + ")");
            })
        .orElse("");
  }

  private static boolean startsThreads(CallSite site) {
    return site.frames().stream()
        .anyMatch(
            frame ->
                frame.kind() == StackFrame.Kind.JAVA
                    && frame.owner().equals("java.lang.Thread")
                    && frame.name().startsWith("start"));
  }

  private Slope interval(double[] series) {
    double rate = growth(series) / span();
    return Math.abs(growth(series)) < LEAST_ROW_BYTES
        ? new Slope(rate, rate, rate)
        : Trend.interval(seconds, series);
  }

  private double maximum(Kind kind) {
    if (kind == Kind.TOTAL) {
      return budget.map(MemoryBudget::limitBytes).orElse(Double.NaN);
    }
    String item =
        switch (kind) {
          case HEAP -> ResidentPart.JAVA_HEAP.tag();
          case METASPACE -> ResidentPart.METASPACE.tag();
          case CODE -> ResidentPart.CODE_CACHE.tag();
          default -> "";
        };
    return budget.map(MemoryBudget::lines).orElse(List.of()).stream()
        .filter(line -> line.item().equals(item) && line.basis().equals("configured"))
        .mapToDouble(MemoryBudget.Line::bytes)
        .findFirst()
        .orElse(Double.NaN);
  }

  // ---- Ends of the window

  /** Returns by how much a series grew between the means of its first and its last minute. */
  private double growth(double[] series) {
    return end(series) - start(series);
  }

  /** Returns the seconds between the middle of the first minute and that of the last one. */
  private double span() {
    return end(seconds) - start(seconds);
  }

  private double endSeconds() {
    return Math.min(endSeconds, seconds[seconds.length - 1] / 4);
  }

  private double start(double[] figures) {
    return mean(figures, second -> second <= endSeconds());
  }

  private double end(double[] figures) {
    double from = seconds[seconds.length - 1] - endSeconds();
    return mean(figures, second -> second >= from);
  }

  private double mean(double[] figures, DoublePredicate within) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < figures.length; i++) {
      if (within.test(seconds[i])) {
        sum += figures[i];
        count++;
      }
    }
    return sum / count;
  }

  private boolean plateau(double[] series) {
    int third = series.length * 2 / 3;
    double whole = growth(series);
    if (whole <= 0 || series.length - third < 2) {
      return false;
    }
    double late =
        (series[series.length - 1] - series[third]) / (seconds[series.length - 1] - seconds[third]);
    return late < STOPPED * whole / span();
  }

  /** Returns the figures of the sites' readings at the times of the account's readings. */
  private double[] interpolated(List<Double> held) {
    List<Instant> times = sites.orElseThrow().times();
    double[] at = new double[readings.size()];
    int next = 0;
    for (int i = 0; i < at.length; i++) {
      Instant time = readings.get(i).time();
      while (next < times.size() && times.get(next).isBefore(time)) {
        next++;
      }
      if (next == 0 || next == times.size()) {
        at[i] = held.get(Math.min(next, held.size() - 1));
      } else {
        double between = nanos(times.get(next - 1), times.get(next));
        double share = nanos(times.get(next - 1), time) / between;
        at[i] = held.get(next - 1) + share * (held.get(next) - held.get(next - 1));
      }
    }
    return at;
  }

  private static double nanos(Instant from, Instant to) {
    return Duration.between(from, to).toNanos();
  }

  // ---- What stands beside the rows

  private List<Count> counts() {
    List<Count> counts = new ArrayList<>();
    counts.add(count(Count.THREADS, ProcessCounts::threads));
    counts.add(count(Count.CLASSES, ProcessCounts::classes));
    names(reading -> reading.counts().pools().keySet()).stream()
        .map(pool -> count(pool, counted -> counted.pools().getOrDefault(pool, 0)))
        .filter(count -> count.growth() >= LEAST_COUNT)
        .sorted(Comparator.comparingDouble(Count::growth).reversed())
        .limit(MOST_LISTED)
        .forEach(counts::add);
    return counts;
  }

  private Count count(String name, ToDoubleFunction<ProcessCounts> figure) {
    double[] series = series(reading -> figure.applyAsDouble(reading.counts()));
    return new Count(
        name,
        series[series.length - 1],
        growth(series),
        growth(series) / span() * MINUTE,
        Trend.interval(seconds, series).lower() > 0 && !plateau(series));
  }

  private List<FilePages> files() {
    return names(reading -> reading.files().keySet()).stream()
        .map(
            name -> {
              double[] series = series(reading -> reading.files().getOrDefault(name, 0L));
              return new FilePages(name, series[series.length - 1], growth(series));
            })
        .filter(file -> file.growthBytes() >= LEAST_FILE_BYTES)
        .sorted(Comparator.comparingDouble(FilePages::growthBytes).reversed())
        .limit(MOST_LISTED)
        .toList();
  }

  private TreeSet<String> names(Function<Reading, Collection<String>> of) {
    TreeSet<String> names = new TreeSet<>();
    readings.forEach(reading -> names.addAll(of.apply(reading)));
    return names;
  }
}
