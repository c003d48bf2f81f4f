package io.mallometer.internal.diagnosis;

import io.mallometer.internal.leak.Trend;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/**
 * Computes the growth of the process's memory, without parts that grow to a configured maximum,
 * such as the Java heap. Also determines three things: which parts grew, the time until memory
 * reaches the limit, and the fastest growth that the uncertain readings allow.
 */
final class TotalGrowth {

  static final Duration A_DAY = Duration.ofDays(1);

  private static final Duration A_WEEK = Duration.ofDays(7);

  /**
   * A process is healthy if its readings rule out dangerous growth within a horizon. The horizon is
   * this multiple of the time watched, but at least a day and at most a week.
   */
  private static final int EXCLUDED = 10;

  /** The time over which parts of memory are compared if memory does not grow. */
  private static final Duration WINDOW = Duration.ofMinutes(10);

  /**
   * A doubling of memory is predicted only after this much time of growth, because a small program
   * can double its memory in a warm-up.
   */
  static final Duration LONGEST_WARM_UP = Duration.ofMinutes(30);

  /**
   * Whether growth is only a warm-up is decided by the readings since the end of the start-up. From
   * this time after the start-up on, it is decided by the readings since the growth began.
   */
  private static final Duration YOUNG = Duration.ofHours(2);

  /**
   * The process is healthy if the readings in any one of these windows rule out dangerous growth.
   */
  private static final List<Duration> WINDOWS =
      List.of(WINDOW, Duration.ofMinutes(30), Duration.ofHours(1));

  /** The kinds of memory that the memory budget limits, by the name of the budget's item. */
  private static final Map<String, Kind> BUDGETED =
      Map.of(
          ResidentPart.JAVA_HEAP.tag(), Kind.HEAP,
          ResidentPart.METASPACE.tag(), Kind.METASPACE,
          ResidentPart.CODE_CACHE.tag(), Kind.CODE);

  /** The largest possible growth of a series with fewer points counts as infinite. */
  private static final int FEWEST_POINTS = 6;

  private static final int MOST_POINTS = 40;

  /**
   * A warm-up is recognized only in a window in which the process's age at least triples; the
   * constant is the logarithm of 3. In a shorter window, the logarithmic growth of a warm-up looks
   * like a line.
   */
  private static final double WARM_UP = Math.log(3);

  /**
   * Growth counts as a warm-up only if it is slower than this in the second half of the window, in
   * bytes per second.
   */
  private static final double WARM_UP_PER_SECOND = (1 << 19) / 60.0;

  /**
   * Cleaners free the native memory of unreachable Java objects after a garbage collection. If the
   * call sites whose memory cleaners free have at least this many live bytes, even a single fall in
   * ten minutes is ascribed to a collection: growth is then measured between low points.
   */
  private static final double LEAST_GARBAGE = 8 << 20;

  private final DiagnosisInput input;
  private final Snapshot snapshot;
  private final ToDoubleFunction<HistoryPoint> figure;
  private final List<Kind> bounded;

  /** The memory that the limit applies to, without the kinds in {@link #bounded}. */
  private final List<HistoryPoint> judged;

  private final ToDoubleFunction<HistoryPoint> judgedFigure;
  private final Optional<ProcessGrowth> growth;
  private final Optional<Account> account;
  private final Limit limit;

  private final Map<List<Instant>, Optional<AccountTable>> tables = new HashMap<>();

  TotalGrowth(DiagnosisInput input) {
    this.input = input;
    this.snapshot = input.snapshot();
    this.figure = figure(input);
    this.bounded = tenMinuteAccount().map(this::bounded).orElseGet(this::boundedHeap);
    Instant startedUp = input.run().startedUp().orElse(Instant.MAX);
    this.judged = bounded.isEmpty() ? input.history() : totalWithout(bounded);
    this.judgedFigure = bounded.isEmpty() ? figure : HistoryPoint::usedBytes;
    this.growth = ProcessGrowth.of(judged, judgedFigure, startedUp, fewestFalls());
    this.account =
        growth.isEmpty()
            ? tenMinuteAccount()
            : table(growth.get().since(), growth.get().lastTrough()).map(AccountTable::account);
    this.limit =
        growth
            .filter(ProcessGrowth::isLasting)
            .map(this::limitReachedBy)
            .orElse(snapshot.memory().limit());
  }

  private int fewestFalls() {
    double garbage = 0;
    for (SiteVerdict site : input.leaks().sites()) {
      boolean cleaned =
          switch (site.grounds().garbage().answer()) {
            case YOUNG, OLD, NOT_TOLD -> true;
            case NONE, NOT_YET, OUTLIVED -> false;
          };
      garbage += cleaned ? site.growth().liveBytes() : 0;
    }
    return garbage >= LEAST_GARBAGE
        ? ProcessGrowth.FEWEST_FALLS_OF_GARBAGE
        : ProcessGrowth.FEWEST_FALLS;
  }

  Optional<ProcessGrowth> growth() {
    return growth;
  }

  Optional<Account> account() {
    return account;
  }

  Optional<Account> tenMinuteAccount() {
    return accountOfLast(WINDOW);
  }

  Optional<Account> hourAccount() {
    return accountOfLast(Duration.ofHours(1));
  }

  private Optional<Account> accountOfLast(Duration window) {
    return table(from(window), Optional.empty()).map(AccountTable::account);
  }

  /**
   * Returns the kinds of growing memory that can reach their maximum without exceeding the limit.
   */
  List<Kind> bounded() {
    return bounded;
  }

  Limit limit() {
    return limit;
  }

  /**
   * Returns the time from the first to the latest known total since the start-up, at most a day.
   */
  Duration watched() {
    List<HistoryPoint> points =
        input.history().stream()
            .filter(point -> !point.time().isBefore(input.run().startedUp().orElse(Instant.MAX)))
            .filter(point -> !Double.isNaN(figure.applyAsDouble(point)))
            .toList();
    return ProcessGrowth.watched(points, A_DAY);
  }

  /**
   * Returns the seconds until growth reaches the limit or has doubled the memory, whichever is
   * sooner. A doubling counts only if memory has grown for half an hour, and if the readings do not
   * rule out a doubling within a day.
   */
  double secondsLeft() {
    ProcessGrowth found = growth.orElseThrow();
    Instant from =
        input
            .run()
            .startedUp()
            .filter(end -> snapshot.time().isBefore(end.plus(YOUNG)))
            .orElse(found.since());
    boolean mayDouble =
        found.watched().compareTo(LONGEST_WARM_UP) >= 0
            && most(judged, judgedFigure, from, A_DAY.toSeconds()) >= latestBytes();
    if (!mayDouble) {
      return limit.seconds();
    }
    double doubled = latestBytes() / found.slope().value();
    return limit.seconds() < doubled ? limit.seconds() : doubled;
  }

  /**
   * Returns an upper bound of the growth in bytes per second: the lowest of the bounds of all
   * {@link #WINDOWS}. Returns empty if the bound of one window is 0, which means that growth can
   * neither double the memory nor reach the limit within the horizon ({@link #EXCLUDED}). The
   * process is healthy then.
   */
  Optional<Double> possibleGrowth() {
    double least = Double.POSITIVE_INFINITY;
    Instant before = Instant.MAX;
    for (Duration window : WINDOWS) {
      Instant from = from(window);
      if (least > 0 && from.isBefore(before)) {
        least = Math.min(least, possibleGrowth(from));
        before = from;
      }
    }
    return least == 0 ? Optional.empty() : Optional.of(least);
  }

  /**
   * Returns an upper bound of the growth in bytes per second, computed from the readings since
   * {@code from}. Returns 0 if even the largest possible growth can neither double the memory nor
   * reach the limit within the horizon, which is a day to a week. For the doubling, only parts that
   * certainly grow are counted. A part with a maximum grows only to its maximum.
   */
  private double possibleGrowth(Instant from) {
    double horizon =
        Math.max(
            A_DAY.toSeconds(),
            Math.min(A_WEEK.toSeconds(), EXCLUDED * (double) watched().toSeconds()));
    Optional<AccountTable> table = table(from, Optional.empty());
    if (table.isEmpty()) {
      double most = most(input.history(), figure, from, horizon);
      return most < latestBytes() && most < room() ? 0 : most / horizon;
    }
    double[] seconds = table.get().seconds();
    double[] rest = new double[seconds.length];
    double shown = 0;
    double possible = 0;
    double needed = 0;
    for (AccountTable.Part part : table.get().parts()) {
      Row row = part.row();
      double most = most(seconds, part.bytes(), horizon);
      if (!Double.isNaN(row.maximumBytes())) {
        needed += row.plateau() ? 0 : Math.min(row.room(), most);
        continue;
      }
      shown += row.lowerPerSecond() > 0 && !row.plateau() ? most : 0;
      possible += most;
      for (int i = 0; i < rest.length; i++) {
        rest[i] += part.bytes()[i];
      }
    }
    double together = most(seconds, rest, horizon);
    boolean doubles = Math.min(shown, together) >= latestBytes();
    boolean reaches = needed + Math.min(possible, together) >= room();
    return doubles || reaches ? together / horizon : 0;
  }

  private double most(
      List<HistoryPoint> points,
      ToDoubleFunction<HistoryPoint> figure,
      Instant from,
      double horizon) {
    List<HistoryPoint> window =
        evenly(
            points.stream()
                .filter(point -> !point.time().isBefore(from))
                .filter(point -> !Double.isNaN(figure.applyAsDouble(point)))
                .toList());
    return most(
        window.stream()
            .mapToDouble(point -> AccountTable.seconds(input.run().started(), point.time()))
            .toArray(),
        window.stream().mapToDouble(figure).toArray(),
        horizon);
  }

  /**
   * Returns about forty of the points, at even distances, because the time to compute an interval
   * grows with the square of their number.
   */
  private static List<HistoryPoint> evenly(List<HistoryPoint> points) {
    if (points.size() <= MOST_POINTS) {
      return points;
    }
    Duration all = Duration.between(points.get(0).time(), points.get(points.size() - 1).time());
    List<HistoryPoint> even = new ArrayList<>();
    Instant next = Instant.MIN;
    for (HistoryPoint point : points) {
      if (!point.time().isBefore(next)) {
        even.add(point);
        next = point.time().plus(all.dividedBy(MOST_POINTS));
      }
    }
    return even;
  }

  private double room() {
    Limit present = snapshot.memory().limit();
    return present.bytes() - present.usedBytes();
  }

  /**
   * Returns the largest possible growth of a series within {@code horizon} seconds, in bytes, by
   * the upper bound of its slope; infinite for too few points. In a warm-up, the series is assumed
   * to grow with the logarithm of time.
   *
   * @param seconds the times of the points, since the start of the process
   */
  static double most(double[] seconds, double[] bytes, double horizon) {
    if (seconds.length < FEWEST_POINTS) {
      return Double.POSITIVE_INFINITY;
    }
    double[] logarithms = DoubleStream.of(seconds).map(Math::log).toArray();
    return warmsUp(seconds, logarithms, bytes)
        ? Math.max(0, Trend.interval(logarithms, bytes).upper())
            * Math.log1p(horizon / seconds[seconds.length - 1])
        : Math.max(0, Trend.interval(seconds, bytes).upper()) * horizon;
  }

  /**
   * Returns whether a series rises with the logarithm of the process's age, as in a warm-up. A
   * logarithmic rise is about half as fast in the second half of the window as in the first. The
   * measured slope of the second half must be nearer to the slope of a logarithmic rise than to the
   * slope of a straight line. The 95 % interval of the measured slope must not exceed half a
   * mebibyte per minute in either direction.
   */
  private static boolean warmsUp(double[] seconds, double[] logarithms, double[] bytes) {
    int last = seconds.length - 1;
    double half = (seconds[0] + seconds[last]) / 2;
    int middle = (int) DoubleStream.of(seconds).filter(second -> second < half).count();
    double early = Trend.median(seconds, bytes, 0, middle);
    Slope late =
        Trend.interval(
            Arrays.copyOfRange(seconds, middle, last + 1),
            Arrays.copyOfRange(bytes, middle, last + 1));
    double slowing = (logarithms[last] - Math.log(half)) / (Math.log(half) - logarithms[0]);
    return logarithms[last] - logarithms[0] >= WARM_UP
        && late.upper() < WARM_UP_PER_SECOND
        && late.lower() > -WARM_UP_PER_SECOND
        && late.value() < early * (1 + slowing) / 2;
  }

  private double latestBytes() {
    List<HistoryPoint> history = input.history();
    return figure.applyAsDouble(history.get(history.size() - 1));
  }

  /**
   * Returns the amount that is compared with the limit: the used bytes in a cgroup, else the
   * resident set, else the live or net bytes of malloc.
   */
  private static ToDoubleFunction<HistoryPoint> figure(DiagnosisInput input) {
    List<HistoryPoint> history = input.history();
    HistoryPoint last = history.isEmpty() ? null : history.get(history.size() - 1);
    if (last == null || input.snapshot().memory().limit().source().equals(Limit.CGROUP)) {
      return HistoryPoint::usedBytes;
    }
    if (!Double.isNaN(last.residentUsedBytes())) {
      return HistoryPoint::residentUsedBytes;
    }
    return Double.isNaN(last.liveBytes()) ? HistoryPoint::netBytes : HistoryPoint::liveBytes;
  }

  private Instant from(Duration window) {
    Instant start = snapshot.time().minus(window);
    Instant startedUp = input.run().startedUp().orElse(Instant.MAX);
    return start.isAfter(startedUp) ? start : startedUp;
  }

  private List<Kind> bounded(Account table) {
    List<Kind> kinds = new ArrayList<>();
    double room = room();
    for (Row row : table.positive()) {
      if (!Double.isNaN(row.maximumBytes()) && !(row.room() > room)) {
        kinds.add(row.kind());
        room -= row.room();
      }
    }
    return kinds;
  }

  /**
   * Returns the Java heap if it just grew and can reach its maximum without exceeding the limit.
   * Used while too few readings exist to compare all parts of memory.
   */
  private List<Kind> boundedHeap() {
    List<AccountReading> readings = input.readings();
    double most = maxima().getOrDefault(Kind.HEAP, Double.NaN);
    if (readings.size() < 2 || Double.isNaN(most)) {
      return List.of();
    }
    double before = AccountTable.bytes(readings.get(readings.size() - 2), Kind.HEAP);
    double now = AccountTable.bytes(readings.get(readings.size() - 1), Kind.HEAP);
    return now > before && !(most - now > room()) ? List.of(Kind.HEAP) : List.of();
  }

  private List<HistoryPoint> totalWithout(List<Kind> kinds) {
    List<HistoryPoint> rest = new ArrayList<>();
    for (AccountReading reading : input.readings()) {
      double bytes = reading.total(isCharged());
      for (Kind kind : kinds) {
        bytes -= AccountTable.bytes(reading, kind);
      }
      rest.add(
          new HistoryPoint(
              reading.time(), bytes, bytes, 0, 0, 0, bytes, bytes, bytes, bytes, bytes, 0));
    }
    return rest;
  }

  private boolean isCharged() {
    return snapshot.memory().limit().source().equals(Limit.CGROUP);
  }

  private Optional<AccountTable> table(Instant from, Optional<Instant> lastTrough) {
    return tables.computeIfAbsent(
        List.of(from, lastTrough.orElse(Instant.MAX)),
        window -> AccountTable.of(input, from, lastTrough, isCharged(), maxima()));
  }

  private Map<Kind, Double> maxima() {
    Map<Kind, Double> maxima = new EnumMap<>(Kind.class);
    double footprint = snapshot.self().footprintBytes();
    if (footprint > 0) {
      maxima.put(Kind.MALLOMETER, footprint);
    }
    snapshot
        .memory()
        .budget()
        .ifPresent(
            budget -> {
              maxima.put(Kind.TOTAL, budget.limitBytes());
              for (MemoryBudget.Line line : budget.lines()) {
                Kind kind = BUDGETED.get(line.item());
                if (kind != null) {
                  maxima.put(kind, line.maximumBytes());
                }
              }
            });
    return maxima;
  }

  private Limit limitReachedBy(ProcessGrowth found) {
    Slope slope = found.slope();
    return snapshot
        .memory()
        .limit()
        .reachedIn(
            secondsToLimit(slope.upper()),
            secondsToLimit(slope.value()),
            secondsToLimit(slope.lower()));
  }

  /**
   * Returns the seconds until growth reaches the limit. A part with a maximum grows only to its
   * maximum.
   */
  private double secondsToLimit(double perSecond) {
    Limit reading = snapshot.memory().limit();
    double room = Math.max(0, reading.bytes() - reading.usedBytes());
    double rate = perSecond;
    List<Row> growing = new ArrayList<>();
    for (Row row : account.map(Account::positive).orElse(List.of())) {
      if (bounded.contains(row.kind())) {
        growing.add(row);
        rate += row.bytesPerSecond();
      }
    }
    growing.sort(Comparator.comparingDouble(row -> row.room() / row.bytesPerSecond()));
    for (Row row : growing) {
      if (room / rate <= row.room() / row.bytesPerSecond()) {
        break;
      }
      room = Math.max(0, room - row.room());
      rate -= row.bytesPerSecond();
    }
    return room / rate;
  }
}
