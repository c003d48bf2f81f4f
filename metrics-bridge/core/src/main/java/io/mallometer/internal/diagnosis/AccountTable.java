package io.mallometer.internal.diagnosis;

import io.mallometer.internal.diagnosis.AccountReading.MappingSite;
import io.mallometer.internal.diagnosis.AccountReading.PagesOfFiles;
import io.mallometer.internal.leak.Trend;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Count;
import io.mallometer.model.Account.FilePages;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.CallSite;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.CodeOwner;
import io.mallometer.model.Estimate;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.LeakReport;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SiteGroup;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.SiteVerdict.Garbage;
import io.mallometer.model.StackFrame;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Divides the memory of the process in a window of time into rows, such as the Java heap or a call
 * site. A row has the bytes at each reading. All rows add up to the total.
 */
final class AccountTable {

  private static final int FEWEST_READINGS = 3;

  /**
   * Growth is the difference between two means: over this many seconds at the end of the window,
   * and over an equal time at its start.
   */
  private static final double END_SECONDS = 50;

  /**
   * A part of memory has stopped growing if its rate in the last third of the window is below this
   * share of its rate in the whole window.
   */
  private static final double STOPPED = 0.1;

  /**
   * A count, such as the number of classes, grows steadily if its rate in the last third of the
   * window is at least this share of its rate in the whole window. Logarithmic growth is not
   * steady: it has the share 0.69 in a window in which the process's age triples.
   */
  private static final double STEADY = 0.75;

  /**
   * Exactly counted memory has stopped growing if the time since its last rise exceeds this
   * multiple of the time between its first and its last rise.
   */
  private static final double STEPS_ENDED = 3;

  /** A thread pool is listed if it has grown by at least this many threads. */
  private static final double LEAST_COUNT = 10;

  private static final double LEAST_FILE_BYTES = 1 << 20;
  private static final int MOST_LISTED = 5;
  private static final double MINUTE = 60;

  /**
   * Readings are thinned to about this number, because the time to compute a confidence interval
   * grows with the square of their number.
   */
  private static final int MOST_READINGS = 40;

  /**
   * A confidence interval is computed only for parts of memory that changed by at least this many
   * bytes.
   */
  private static final double LEAST_ROW_BYTES = 64 << 10;

  /**
   * The window ends this long after the latest reading of call sites, because the reading of other
   * memory at the same moment can finish later.
   */
  private static final Duration SAME_MOMENT = Duration.ofSeconds(5);

  /**
   * A call site in the application's code has its own row if it grew by at least this many bytes,
   * even if the growth is uncertain.
   */
  private static final double LEAST_OWN_BYTES = 1 << 20;

  private static final int MOST_SITES = 20;

  /** The kinds of rows for memory that is neither malloc's nor mapped by call sites. */
  private static final List<Kind> PROCESS =
      List.of(
          Kind.HEAP,
          Kind.METASPACE,
          Kind.CODE,
          Kind.STACKS,
          Kind.JVM,
          Kind.COPIES,
          Kind.SHARED,
          Kind.MALLOMETER);

  /** The kinds of rows for memory that is charged to the cgroup and is not the process's own. */
  private static final List<Kind> CGROUP =
      List.of(Kind.KERNEL, Kind.TMPFS, Kind.SOCKETS, Kind.OTHERS);

  /** A row for a part of memory other than a call site, with its bytes at each reading. */
  record Part(Row row, double[] bytes) {}

  private record SiteSeries(SiteTrends.Group group, double[] bytes) {}

  private final List<AccountReading> readings;
  private final Optional<SiteTrends> sites;

  /** The groups of call sites, with their resident bytes only. */
  private final List<SiteTrends.Group> groups = new ArrayList<>();

  /** The live bytes that are not resident, summed over all groups, at each reading. */
  private final double[] untouched;

  private final PoolChunks chunks;
  private final LeakReport leaks;
  private final Map<Kind, Double> maxima;
  private final boolean charged;
  private final double[] seconds;
  private final double endSeconds;
  private final double[] total;

  /** The bytes at each reading that none of the {@link #parts} contains. */
  private final double[] rest;

  private final List<Part> parts = new ArrayList<>();
  private @Nullable Account account;

  private AccountTable(
      List<AccountReading> readings,
      Instant started,
      Optional<SiteTrends> sites,
      PoolChunks chunks,
      LeakReport leaks,
      boolean charged,
      Map<Kind, Double> maxima,
      double endSeconds) {
    this.endSeconds = endSeconds;
    this.readings = readings;
    this.sites = sites;
    this.chunks = chunks;
    this.leaks = leaks;
    this.charged = charged;
    this.maxima = maxima;
    this.seconds =
        readings.stream().mapToDouble(reading -> seconds(started, reading.time())).toArray();
    this.untouched = new double[readings.size()];
    sites.map(SiteTrends::groups).orElse(List.of()).forEach(this::addResident);
    this.total = series(reading -> reading.total(charged));
    this.rest = total.clone();
    PROCESS.forEach(this::add);
    addMapped();
    boolean counted = readings.stream().noneMatch(reading -> Double.isNaN(reading.liveBytes()));
    (counted ? List.of(Kind.LIVE, Kind.RETAINED) : List.of(Kind.MALLOC)).forEach(this::add);
    if (charged) {
      CGROUP.forEach(this::add);
    }
    parts.add(new Part(row(Kind.UNATTRIBUTED, rest), rest));
  }

  /**
   * Returns the table of the readings from {@code from} to {@code lastTrough}, or to the latest
   * reading of call sites if {@code lastTrough} is empty. If this time has fewer than three
   * readings, the table starts earlier. Returns empty if there are fewer than three readings since
   * the start-up.
   *
   * @param from the start of the window
   * @param lastTrough the last low point if memory rises and falls; otherwise empty. With a low
   *     point, growth is the difference between two single readings, because a mean would also
   *     include higher points
   * @param charged whether the total is the memory that the kernel charges to the cgroup; otherwise
   *     it is the resident set
   * @param maxima the maximum in bytes of each kind of row that has one
   */
  static Optional<AccountTable> of(
      DiagnosisInput input,
      Instant from,
      Optional<Instant> lastTrough,
      boolean charged,
      Map<Kind, Double> maxima) {
    Instant startedUp = input.run().startedUp().orElse(Instant.MAX);
    Instant until =
        lastTrough.orElse(
            input
                .sites()
                .map(SiteTrends::times)
                .filter(times -> !times.isEmpty())
                .map(times -> times.get(times.size() - 1).plus(SAME_MOMENT))
                .orElse(Instant.MAX));
    List<AccountReading> all =
        input.readings().stream()
            .filter(one -> !one.time().isBefore(startedUp) && !one.time().isAfter(until))
            .toList();
    int first = 0;
    while (first < all.size() - FEWEST_READINGS && all.get(first).time().isBefore(from)) {
      first++;
    }
    return all.size() < FEWEST_READINGS
        ? Optional.empty()
        : Optional.of(
            new AccountTable(
                thinned(all.subList(first, all.size())),
                input.run().started(),
                input.sites(),
                new PoolChunks(input.snapshot().pools()),
                input.leaks(),
                charged,
                maxima,
                lastTrough.isPresent() ? 0 : END_SECONDS));
  }

  private static List<AccountReading> thinned(List<AccountReading> readings) {
    int step = (readings.size() + MOST_READINGS - 1) / MOST_READINGS;
    int ends = 4;
    return IntStream.range(0, readings.size())
        .filter(i -> i % step == 0 || i < ends || i >= readings.size() - ends)
        .mapToObj(readings::get)
        .toList();
  }

  /** Returns the account, in which rows of call sites replace the row of live bytes. */
  Account account() {
    if (account == null) {
      List<Row> rows = new ArrayList<>();
      for (Part part : parts) {
        if (part.row().kind() == Kind.LIVE) {
          addSites(rows, part);
        } else {
          rows.add(part.row());
        }
      }
      rows.removeIf(row -> row.bytes() == 0 && row.growthBytes() == 0);
      rows.sort(Comparator.comparingDouble(Row::growthBytes).reversed());
      account =
          new Account(
              readings.get(0).time(),
              readings.get(readings.size() - 1).time(),
              charged ? Account.CHARGED : Account.RESIDENT,
              row(Kind.TOTAL, total),
              rows,
              counts(),
              files());
    }
    return account;
  }

  List<Part> parts() {
    return parts;
  }

  /** Returns the time of each reading, in seconds since the start of the process. */
  double[] seconds() {
    return seconds;
  }

  // ---- Computing the rows

  static double bytes(AccountReading reading, Kind kind) {
    return switch (kind) {
      case HEAP -> reading.of(ResidentPart.JAVA_HEAP);
      case METASPACE -> reading.of(ResidentPart.METASPACE) + reading.of(ResidentPart.CLASS_SPACE);
      case CODE -> reading.of(ResidentPart.CODE_CACHE);
      case STACKS -> reading.of(ResidentPart.THREAD_STACKS);
      case JVM ->
          reading.of(ResidentPart.GC_AND_JVM)
              - reading.resident().mallocBytes()
              + dividedMalloc(reading);
      case COPIES -> reading.resident().copiedFileBytes();
      case SHARED -> reading.of(ResidentPart.SHARED_MEMORY);
      case MALLOMETER -> reading.of(ResidentPart.MALLOMETER);
      case ANONYMOUS -> reading.of(ResidentPart.UNEXPLAINED);
      case MALLOC -> reading.resident().mallocBytes();
      case LIVE -> reading.liveBytes();
      case RETAINED -> reading.resident().mallocBytes() - reading.liveBytes();
      case KERNEL -> reading.of(ChargedPart.KERNEL);
      case TMPFS ->
          Math.max(0, reading.of(ChargedPart.TMPFS) - reading.of(ResidentPart.SHARED_MEMORY));
      case SOCKETS -> reading.of(ChargedPart.SOCKETS);
      case OTHERS -> reading.of(ChargedPart.OTHER_PROCESSES);
      default -> throw new IllegalArgumentException(kind.tag());
    };
  }

  /** Returns the sum of the parts of the resident set that contain only memory of malloc. */
  private static double dividedMalloc(AccountReading reading) {
    return reading.of(ResidentPart.DIRECT_BUFFERS)
        + reading.of(ResidentPart.MALLOC_LIVE)
        + reading.of(ResidentPart.MALLOC_RETAINED)
        + reading.of(ResidentPart.MALLOC);
  }

  private void add(Kind kind) {
    double[] bytes = series(reading -> bytes(reading, kind));
    if (kind == Kind.LIVE || kind == Kind.RETAINED) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] += kind == Kind.LIVE ? -untouched[i] : untouched[i];
      }
    }
    add(row(kind, bytes), bytes);
  }

  private void add(Row row, double[] bytes) {
    parts.add(new Part(row, bytes));
    for (int i = 0; i < rest.length; i++) {
      rest[i] -= bytes[i];
    }
  }

  private void addMapped() {
    double[] unnamed = series(reading -> bytes(reading, Kind.ANONYMOUS));
    Map<MappingSite, Long> most = new HashMap<>();
    readings.forEach(
        reading ->
            reading
                .mapped()
                .orElse(Map.of())
                .forEach((site, bytes) -> most.merge(site, bytes, Math::max)));
    List<MappingSite> largest =
        most.entrySet().stream()
            .sorted(Map.Entry.<MappingSite, Long>comparingByValue().reversed())
            .limit(MOST_SITES)
            .map(Map.Entry::getKey)
            .toList();
    for (MappingSite site : largest) {
      double[] bytes =
          known(
              reading -> reading.mapped().map(sites -> sites.getOrDefault(site, 0L)).orElse(null));
      if (Arrays.stream(bytes).noneMatch(Double::isNaN)) {
        add(mapped(site, bytes), bytes);
        for (int i = 0; i < bytes.length; i++) {
          unnamed[i] -= bytes[i];
        }
      }
    }
    add(row(Kind.ANONYMOUS, unnamed), unnamed);
  }

  private Row mapped(MappingSite site, double[] bytes) {
    Row row = row(Kind.MAPPED, bytes);
    return new Row(
        Kind.MAPPED,
        site.name(),
        site.place(),
        row.bytes(),
        row.growthBytes(),
        row.lowerPerSecond(),
        row.bytesPerSecond(),
        row.upperPerSecond(),
        true,
        row.plateau(),
        Double.NaN,
        0);
  }

  /**
   * Adds the resident bytes of a group of call sites, because the total contains resident bytes
   * only. The latest resident share is applied to the whole window, because earlier shares are
   * unknown.
   */
  private void addResident(SiteTrends.Group group) {
    SiteGroup all = group.figures();
    double share = residentShare(all);
    if (share == 1) {
      groups.add(group);
      return;
    }
    double[] held = interpolated(group.history());
    for (int i = 0; i < untouched.length; i++) {
      untouched[i] += (1 - share) * held[i];
    }
    groups.add(
        new SiteTrends.Group(
            new SiteGroup(
                all.key(),
                all.sites(),
                all.samples(),
                all.allocatedObjects(),
                all.allocatedBytes().share(share),
                all.liveObjects(),
                all.residentBytes(),
                all.residentBytes(),
                share * all.bytesPerSecond()),
            group.history().stream().map(bytes -> share * bytes).toList(),
            group.largest()));
  }

  /** Returns the resident share of a group's live bytes; 1 if the share is unknown. */
  static double residentShare(SiteGroup figures) {
    double share = figures.residentBytes().value() / figures.liveBytes().value();
    return share < 1 ? share : 1;
  }

  private void addSites(List<Row> rows, Part live) {
    if (groups.isEmpty()) {
      rows.add(live.row());
      return;
    }
    List<SiteSeries> held = new ArrayList<>();
    groups.forEach(group -> held.add(new SiteSeries(group, interpolated(group.history()))));
    shareOut(live, held);
    held.sort(Comparator.comparingDouble((SiteSeries site) -> -Math.abs(growth(site.bytes()))));
    double[] unsampled = live.bytes().clone();
    double[] others = new double[unsampled.length];
    int listed = 0;
    for (SiteSeries site : held) {
      Row row = site(site.group(), site.bytes());
      boolean shown = row.lowerPerSecond() > 0 || row.upperPerSecond() < 0;
      boolean own = !row.place().isEmpty() && row.growthBytes() >= LEAST_OWN_BYTES;
      boolean lists = row.kind() == Kind.POOL || listed < MOST_SITES && (shown || own);
      if (lists) {
        listed++;
        rows.add(row);
      }
      for (int i = 0; i < unsampled.length; i++) {
        unsampled[i] -= site.bytes()[i];
        others[i] += lists ? 0 : site.bytes()[i];
      }
    }
    rows.add(row(Kind.OTHER_SITES, others));
    rows.add(row(Kind.SAMPLING, unsampled));
  }

  /**
   * Corrects the growth of the call sites, which is estimated from samples, to add up to the exact
   * growth of live bytes. The difference is divided among the sites in proportion to their
   * variances. A part of the difference that exceeds the 95 % sampling error of all sites together
   * has another cause and is not divided.
   */
  private void shareOut(Part live, List<SiteSeries> held) {
    double[] difference = live.bytes().clone();
    double[] variances = new double[held.size()];
    double all = 0;
    for (int k = 0; k < variances.length; k++) {
      SiteSeries site = held.get(k);
      Slope sampled = sampled(site.group().figures(), site.bytes());
      double error = (sampled.upper() - sampled.lower()) / 2 * span();
      variances[k] = error * error;
      all += variances[k];
      for (int i = 0; i < difference.length; i++) {
        difference[i] -= site.bytes()[i];
      }
    }
    double first = start(difference);
    double most = Math.sqrt(all);
    for (int k = 0; k < variances.length && all > 0; k++) {
      double[] bytes = held.get(k).bytes();
      double part = variances[k] / all;
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] += part * Math.max(-most, Math.min(difference[i] - first, most));
      }
    }
  }

  private double[] series(ToDoubleFunction<AccountReading> figure) {
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
        maxima.getOrDefault(kind, Double.NaN),
        0);
  }

  private Row site(SiteTrends.Group group, double[] series) {
    boolean exact = group.figures().liveBytes().variance() == 0;
    Slope interval = interval(series);
    Slope sampled = sampled(group.figures(), series);
    Steps steps = steps(series);
    String name = group.figures().key();
    boolean pool = chunks.isName(name);
    return new Row(
        pool ? Kind.POOL : Kind.SITE,
        name,
        pool ? chunks.keeper(name) : place(group),
        series[series.length - 1],
        growth(series),
        exact
            ? Math.max(interval.lower(), steps.lower())
            : Math.min(interval.lower(), sampled.lower()),
        sampled.value(),
        exact ? interval.upper() : Math.max(interval.upper(), sampled.upper()),
        exact,
        exact && steps.lower() > 0 ? steps.ended() : plateau(series),
        Double.NaN,
        garbagePerSecond(name, sampled.value()));
  }

  /**
   * Returns the part of a call site's growth that a collection of the old generation frees, in
   * bytes per second.
   */
  private double garbagePerSecond(String name, double growth) {
    Garbage garbage = Headline.garbage(leaks, name);
    double known = garbage.answer() == GarbageAnswer.OLD ? garbage.bytesPerSecond() : 0;
    return Math.max(0, Math.min(known, growth));
  }

  /**
   * Returns a group's growth in bytes per second with its sampling error. Allocated and freed bytes
   * come from different samples, so their errors are independent. The exact number of freed bytes
   * is unknown; the lowest of three upper bounds replaces it.
   */
  private Slope sampled(SiteGroup figures, double[] series) {
    Estimate live = figures.liveBytes();
    double growth = growth(series);
    double start = start(series);
    double ever = figures.allocatedBytes().value() - end(series);
    double lately = figures.bytesPerSecond() * span() - growth;
    double most = Math.min(start, lately < ever ? lately : ever);
    double scale = live.value() > 0 ? live.variance() / live.value() : 0;
    Estimate freed = sample(Math.max(most, Math.max(0, -growth)), scale);
    Estimate allocated = sample(freed.value() + growth, scale);
    double low = Math.hypot(allocated.value() - allocated.low(), freed.high() - freed.value());
    double high = Math.hypot(allocated.high() - allocated.value(), freed.value() - freed.low());
    return new Slope((growth - low) / span(), growth / span(), (growth + high) / span());
  }

  private static Estimate sample(double bytes, double scale) {
    return new Estimate(bytes, bytes * scale, 0);
  }

  /**
   * The steps in which an exact count rises, such as the bytes of a buffer that realloc doubles.
   *
   * @param lower the growth in bytes per second without the largest rise; 0 if the count also fell
   * @param ended whether the count has stopped rising, as {@link #STEPS_ENDED} defines
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

  private static String place(SiteTrends.Group group) {
    return group.largest().stream()
        .map(site -> StackFrame.place(site.frames(), group.figures().key()))
        .filter(place -> !place.isEmpty())
        .findFirst()
        .orElse("");
  }

  /**
   * Returns the line of code that starts the most threads, measured by the growth of the memory
   * that starting a thread allocates. Returns an empty text if the JVM itself starts the threads.
   */
  private String starter() {
    return groups.stream()
        .filter(group -> group.largest().stream().anyMatch(AccountTable::startsThreads))
        .max(Comparator.comparingDouble(group -> growth(interpolated(group.history()))))
        .map(group -> group.largest().get(0))
        .filter(site -> site.codeOwner() != CodeOwner.JVM)
        .map(CallSite::line)
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

  // ---- Measuring growth from the start to the end of the window

  private double growth(double[] series) {
    return end(series) - start(series);
  }

  /**
   * Returns the seconds over which {@link #growth} is measured: the mean time of the readings at
   * the end of the window, minus the mean time of the readings at its start.
   */
  private double span() {
    return end(seconds) - start(seconds);
  }

  private double endSeconds() {
    return Math.min(endSeconds, (seconds[seconds.length - 1] - seconds[0]) / 4);
  }

  private double start(double[] figures) {
    return mean(figures, second -> second <= seconds[0] + endSeconds());
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
    return slowsTo(STOPPED, series);
  }

  /**
   * Returns whether a series grows, but in its last third at less than {@code share} of its rate
   * over the whole window.
   */
  private boolean slowsTo(double share, double[] series) {
    int third = series.length * 2 / 3;
    double whole = growth(series);
    if (whole <= 0 || series.length - third < 2) {
      return false;
    }
    double late =
        (series[series.length - 1] - series[third]) / (seconds[series.length - 1] - seconds[third]);
    return late < share * whole / span();
  }

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
        double between = seconds(times.get(next - 1), times.get(next));
        double share = seconds(times.get(next - 1), time) / between;
        at[i] = held.get(next - 1) + share * (held.get(next) - held.get(next - 1));
      }
    }
    return at;
  }

  static double seconds(Instant from, Instant to) {
    return Duration.between(from, to).toNanos() / 1e9;
  }

  // ---- Growth of counts (threads, classes) and of files

  private List<Count> counts() {
    List<Count> counts = new ArrayList<>();
    counts.add(count(Count.THREADS, series(reading -> reading.counts().threads())));
    double[] ended = series(reading -> reading.counts().endedThreads());
    if (!Double.isNaN(ended[0])) {
      counts.add(count(Count.ENDED_THREADS, ended));
    }
    counts.add(count(Count.CLASSES, series(reading -> reading.counts().classes())));
    double[] deleted = series(reading -> reading.files().deleted());
    if (deleted[deleted.length - 1] > 0) {
      counts.add(count(Count.DELETED_FILES, deleted));
    }
    names(reading -> reading.counts().pools().keySet()).stream()
        .map(pool -> count(pool, known(reading -> reading.counts().pools().get(pool))))
        .filter(count -> count.growth() >= LEAST_COUNT)
        .sorted(Comparator.comparingDouble(Count::growth).reversed())
        .limit(MOST_LISTED)
        .forEach(counts::add);
    return counts;
  }

  private Count count(String name, double[] series) {
    return new Count(
        name,
        series[series.length - 1],
        growth(series),
        growth(series) / span() * MINUTE,
        Trend.interval(seconds, series).lower() > 0 && !slowsTo(STEADY, series));
  }

  /**
   * Returns the files that grew, and sums over files, such as all deleted files. Leaves out a sum
   * if a single file has 60 % of the sum's growth.
   */
  private List<FilePages> files() {
    List<FilePages> files = grown(PagesOfFiles::largest);
    double largest = files.stream().mapToDouble(FilePages::growthBytes).max().orElse(0);
    return Stream.concat(
            files.stream(),
            grown(PagesOfFiles::together).stream()
                .filter(sum -> largest < Headline.EXPLAINED * sum.growthBytes()))
        .sorted(Comparator.comparingDouble(FilePages::growthBytes).reversed())
        .limit(MOST_LISTED)
        .toList();
  }

  private List<FilePages> grown(Function<PagesOfFiles, Map<String, Long>> pages) {
    return names(reading -> pages.apply(reading.files()).keySet()).stream()
        .map(
            name -> {
              double[] series = known(reading -> pages.apply(reading.files()).get(name));
              return new FilePages(
                  name.substring(name.lastIndexOf('/') + 1),
                  series[series.length - 1],
                  growth(series));
            })
        .filter(file -> file.growthBytes() >= LEAST_FILE_BYTES)
        .toList();
  }

  /**
   * Returns a series in which the next known value replaces each missing value, so that the gap
   * adds no growth. Values after the last known one stay {@code NaN}. If fewer than two values are
   * known, the whole series is {@code NaN}.
   */
  private double[] known(Function<AccountReading, @Nullable Number> figure) {
    double[] series =
        series(
            reading ->
                Optional.ofNullable(figure.apply(reading))
                    .map(Number::doubleValue)
                    .orElse(Double.NaN));
    long count = Arrays.stream(series).filter(value -> !Double.isNaN(value)).count();
    for (int i = series.length - 2; i >= 0; i--) {
      series[i] = Double.isNaN(series[i]) ? series[i + 1] : series[i];
    }
    if (count < 2) {
      Arrays.fill(series, Double.NaN);
    }
    return series;
  }

  private TreeSet<String> names(Function<AccountReading, Collection<String>> of) {
    TreeSet<String> names = new TreeSet<>();
    readings.forEach(reading -> names.addAll(of.apply(reading)));
    return names;
  }
}
