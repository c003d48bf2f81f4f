package io.mallometer.internal.diagnosis;

import io.mallometer.internal.leak.Sentence;
import io.mallometer.internal.leak.Trend;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.internal.text.Words;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Count;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Finding;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.Diagnosis.State;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Observation;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Draws the diagnosis from the account of the growth and the verdicts on call sites. Each rule is a
 * method that looks at one thing and leaves one finding with the state that it asks for. The
 * gravest state wins; the sentence names the rows of the account that explain it. {@code
 * docs/explanation/diagnosis.md} has a row for each rule.
 */
public final class DiagnosisRules {

  /** From here on the kernel's next reclaim may fail. */
  private static final double AT_THE_LIMIT = 0.95;

  private static final double NEAR_THE_LIMIT = 0.9;

  /** The heap explains the use of the limit if it is such a share of what is used. */
  private static final double MOSTLY = 2 / 3.0;

  private static final Duration NEAR = Duration.ofMinutes(30);
  private static final Duration A_DAY = Duration.ofDays(1);
  private static final Duration A_WEEK = Duration.ofDays(7);

  /** So long growth is watched before it is extrapolated to a limit that is near. */
  private static final Duration SURE = Duration.ofMinutes(2);

  /** Growth is extrapolated to so many times the time that it was watched: an hour to a day. */
  private static final int EXTRAPOLATED = 24;

  /** Healthy excludes growth for so many times the time watched, if that is more than a day. */
  private static final int EXCLUDED = 10;

  /** So long a process that does not grow is watched before it is healthy. */
  private static final Duration WATCHED = Duration.ofMinutes(3);

  /** So long use is observed before the absence of unused memory says anything. */
  private static final Duration OBSERVED = Duration.ofMinutes(5);

  /** The window of the account without growth. */
  private static final Duration WINDOW = Duration.ofMinutes(10);

  private static final double SUSPECT_SHARE = 0.05;
  private static final double SUSPECT_BYTES = 64 << 20;

  /** From here on unused objects of growing sites, all together, are to be watched. */
  private static final double UNUSED_BYTES = 8 << 20;

  private static final double UNUSED_PER_SECOND = (1 << 20) / 60.0;

  /** From here on growth of exact rows is to be watched. */
  private static final double EXACT_BYTES = 8 << 20;

  private static final double EXACT_THREADS = 50;
  private static final double EXACT_CLASSES = 1_000;

  /** A site is to be acted on if it makes up this share of the growth toward the limit. */
  private static final double QUARTER = 0.25;

  private static final double UNEXPLAINED_SHARE = 0.05;
  private static final double UNEXPLAINED_BYTES = 32 << 20;

  /** Growth of pages of files is told from here on. */
  private static final double FILE_BYTES = 16 << 20;

  /** From here on the samples without a call site can hide one that leaks. */
  private static final double MISSED_SHARE = 0.1;

  /** Rows with a maximum are left out of the growth if they make up this share of it. */
  private static final double BOUNDED_SHARE = 0.2;

  /** Rows that may have a configured maximum. */
  private static final List<Kind> BOUNDED_KINDS = List.of(Kind.HEAP, Kind.METASPACE, Kind.CODE);

  private static final double LISTED_BYTES = 1 << 20;
  private static final int MOST_LISTED = 12;

  private static final double HOUR = 3_600;

  private final DiagnosisInput known;
  private final Snapshot snapshot;
  private final ToDoubleFunction<HistoryPoint> figure;
  private final Optional<ProcessGrowth> growth;
  private final Optional<Account> account;

  /** The rows that grow to a configured maximum, where the limit has room for all of them. */
  private final List<Kind> bounded;

  private final Limit limit;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> waits = new ArrayList<>();

  private final Headline headline;

  /** The rows that the sentence names. */
  private List<Row> named = List.of();

  private String sentence = "";
  private State state = State.HEALTHY;

  private DiagnosisRules(DiagnosisInput known) {
    this.known = known;
    this.snapshot = known.snapshot();
    this.figure = figure(known);
    Optional<ProcessGrowth> whole =
        known.startedUp().flatMap(end -> ProcessGrowth.of(known.history(), figure, end));
    Optional<Account> first = account(whole);
    this.bounded = whole.isEmpty() ? List.of() : bounded(first, snapshot.memory().limit());
    this.growth = bounded.isEmpty() ? whole : growthBesideBounded();
    this.account = bounded.isEmpty() ? first : account(growth);
    this.limit =
        growth.filter(ProcessGrowth::goesOn).map(this::reached).orElse(snapshot.memory().limit());
    this.headline = new Headline(known, growth, account, limit, bounded, counted(), asking());
  }

  /** Returns the diagnosis, since the snapshot's time. */
  public static Diagnosis diagnosis(DiagnosisInput known) {
    DiagnosisRules rules = new DiagnosisRules(known);
    rules.suspects();
    rules.growth();
    rules.exactRows();
    rules.limit();
    rules.previous();
    rules.counting();
    rules.missed();
    rules.retained();
    rules.budget();
    rules.unexplained();
    rules.table();
    return rules.diagnosed();
  }

  /** Returns what grows: that which the limit is compared with, or without it what is known. */
  private static ToDoubleFunction<HistoryPoint> figure(DiagnosisInput known) {
    List<HistoryPoint> history = known.history();
    HistoryPoint last = history.isEmpty() ? null : history.get(history.size() - 1);
    if (last == null || known.snapshot().memory().limit().source().equals(Limit.CGROUP)) {
      return HistoryPoint::usedBytes;
    }
    if (!Double.isNaN(last.residentUsedBytes())) {
      return HistoryPoint::residentUsedBytes;
    }
    return Double.isNaN(last.liveBytes()) ? HistoryPoint::netBytes : HistoryPoint::liveBytes;
  }

  /** Returns the account of the growth's window, or without growth of the last ten minutes. */
  private Optional<Account> account(Optional<ProcessGrowth> growth) {
    Instant tenMinutesAgo = snapshot.time().minus(WINDOW);
    return known
        .startedUp()
        .flatMap(
            end ->
                account(
                    growth.map(ProcessGrowth::since).orElse(later(tenMinutesAgo, end)),
                    growth.flatMap(ProcessGrowth::lastTrough)));
  }

  private static List<Kind> bounded(Optional<Account> table, Limit limit) {
    List<Row> rows =
        table.map(Account::positive).orElse(List.of()).stream()
            .filter(row -> !Double.isNaN(row.maximumBytes()))
            .toList();
    double needed = rows.stream().mapToDouble(Row::room).sum();
    double growth = rows.stream().mapToDouble(Row::growthBytes).sum();
    boolean fits = !(needed > limit.bytes() - limit.usedBytes());
    boolean matters = table.isPresent() && growth >= BOUNDED_SHARE * table.get().positiveBytes();
    return fits && matters ? rows.stream().map(Row::kind).toList() : List.of();
  }

  /** Returns how the memory grows without the rows that have a maximum. */
  private Optional<ProcessGrowth> growthBesideBounded() {
    List<HistoryPoint> rest = new ArrayList<>();
    for (Reading reading : known.readings()) {
      double bytes = total(reading);
      for (Kind kind : bounded) {
        bytes -= AccountTable.bytes(reading, kind);
      }
      rest.add(
          new HistoryPoint(
              reading.time(), bytes, bytes, 0, 0, 0, bytes, bytes, bytes, bytes, bytes, 0));
    }
    return ProcessGrowth.of(rest, HistoryPoint::usedBytes, known.startedUp().orElseThrow());
  }

  /** Returns the bytes that the limit is compared with. */
  private double total(Reading reading) {
    return isCharged() ? reading.chargedBytes() : reading.residentBytes();
  }

  private boolean isCharged() {
    return snapshot.memory().limit().source().equals(Limit.CGROUP);
  }

  private Optional<Account> account(Instant from, Optional<Instant> lastTrough) {
    return AccountTable.of(
        known.readings(), known.sites(), from, lastTrough, isCharged(), snapshot.memory().budget());
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  private Diagnosis diagnosed() {
    findings.sort(Comparator.comparing(Finding::state).reversed());
    return new Diagnosis(
        state,
        snapshot.time(),
        switch (state) {
          case HEALTHY -> healthy();
          case TOO_EARLY ->
              "Too early to tell: "
                  + String.join(", ", waits)
                  + files().map(text -> "; " + text).orElse("");
          default -> sentence;
        },
        actions(),
        limit,
        known.previous(),
        findings,
        account,
        state.compareTo(State.TOO_EARLY) > 0 ? named.stream().map(Row::name).toList() : List.of());
  }

  private String healthy() {
    String room =
        Double.isNaN(limit.usedShare())
            ? ""
            : "; %s of the %s is used".formatted(Words.share(limit.usedShare()), ofBytes());
    String use =
        !snapshot.status().active()
            ? "; native allocations are not counted"
            : observed().compareTo(OBSERVED) < 0
                ? ""
                : "; " + small().orElse("no call site grows with unused objects");
    String blind = missedShare() < MISSED_SHARE ? "" : "; " + missedText();
    return growsLittle() + room + files().map(text -> "; " + text).orElse(use) + blind;
  }

  /** Returns why the growth, if there is any, is healthy. */
  private String growsLittle() {
    String most =
        bounded.isEmpty()
            ? ""
            : ", mostly the %s on its way to its maximum".formatted(bounded.get(0).words());
    if (growth.isEmpty()) {
      return bounded.isEmpty()
          ? growsNot()
          : "Memory grows little in " + Words.duration(watched()) + most;
    }
    Duration left = Headline.seconds(limit.seconds());
    return grows(growth.get())
        + (left.isZero() ? most : ", the limit is " + Words.roughly(left) + " away");
  }

  private String growsNot() {
    return "Memory shows no steady growth in " + Words.duration(watched());
  }

  // ---- What to do

  private List<String> actions() {
    List<String> actions = new ArrayList<>();
    if (state == State.ACT) {
      actions.add(
          limit.upperSeconds() < NEAR.toSeconds()
              ? "Save the evidence, and restart before " + headline.at(limit.lowerSeconds())
              : "Save the evidence");
    }
    if (state.compareTo(State.TOO_EARLY) > 0) {
      named.stream()
          .findFirst()
          .map(this::remedy)
          .filter(text -> !text.isEmpty())
          .ifPresent(actions::add);
      actions.add("Open the runbook: docs/runbooks/" + runbook() + ".md");
    }
    return actions;
  }

  /** Returns what a person does about a row. */
  private String remedy(Row row) {
    return switch (row.kind()) {
      case SITE ->
          headline.suspect(row).map(SiteVerdict::verdict).filter(Verdict.LEAK::equals).isPresent()
              ? "Free or close what " + Headline.place(row) + " allocates"
              : "Close what %s allocates, or bound how much is kept".formatted(Headline.place(row));
      case RETAINED ->
          "Trim malloc"
              + snapshot.allocator().map(AllocatorStatistics::advice).orElse(List.of()).stream()
                  .filter(advice -> advice.topic().equals("arenas"))
                  .findFirst()
                  .map(advice -> ", and set " + advice.setting())
                  .orElse(", or set MALLOC_ARENA_MAX=2");
      case STACKS -> "End the threads, or bound the pool that starts them";
      case HEAP -> "Find what the heap keeps by a heap dump, or set a smaller -Xmx";
      case METASPACE -> "Reuse generated classes and class loaders";
      case OTHERS -> "Look at the other processes of the cgroup";
      case TMPFS, SHARED -> "Delete files in tmpfs, or move them to a disk";
      default -> "";
    };
  }

  private String runbook() {
    return switch (findings.get(0).topic()) {
      case "previous" -> "after-a-kill";
      case "limit" -> "near-limit";
      default ->
          switch (named.isEmpty() ? Kind.TOTAL : named.get(0).kind()) {
            case SITE -> ofSite(named.get(0));
            case RETAINED -> "retained";
            case HEAP -> "heap-too-large";
            case ANONYMOUS, UNATTRIBUTED -> "unexplained";
            default -> "reaches-limit";
          };
    };
  }

  private String ofSite(Row row) {
    return switch (headline.suspect(row).map(SiteVerdict::verdict).orElse(Verdict.HEALTHY)) {
      case LEAK -> "leak-suspected";
      case UNUSED -> "unused-grows";
      default -> "reaches-limit";
    };
  }

  // ---- Suspects

  /** The rules on call sites that are suspects. */
  private void suspects() {
    if (!snapshot.status().active()) {
      return;
    }
    List<SiteVerdict> suspects = asking();
    if (suspects.isEmpty()) {
      noSuspect();
      return;
    }
    found("leaks", asked(suspects.get(0)), suspects.get(0).sentence());
  }

  private void noSuspect() {
    LeakReport leaks = known.leaks();
    String why = leaks.reason().isEmpty() ? leaks.observation().reason() : leaks.reason();
    if (!why.isEmpty()) {
      found("leaks", State.HEALTHY, "Accesses to objects are not observed: " + why);
    } else if (observed().compareTo(OBSERVED) < 0) {
      if (!leaks.observation().hasSeen()) {
        tooEarly("leaks", "accesses to objects are not observed yet");
        return;
      }
      double left =
          OBSERVED.minus(observed()).toNanos() / known.options().get(Setting.LEAK_TIME_SCALE);
      Instant due = leaks.time().plusNanos((long) left);
      tooEarly("leaks", "unused memory can be judged from " + atTheLatest(due));
    } else if (fresh() > SUSPECT_BYTES && !(fresh() < SUSPECT_SHARE * limit.bytes())) {
      tooEarly(
          "leaks",
          "whether the %s allocated in the last %s are used"
              .formatted(Sentence.bytes(fresh()), Words.duration(OBSERVED)));
    } else {
      found(
          "leaks",
          State.HEALTHY,
          capital(small().orElse("no call site grows with unused objects")));
    }
  }

  /** Returns by how much more native memory is in use than ever was before it can be judged. */
  private double fresh() {
    List<HistoryPoint> history = known.history();
    Instant from = snapshot.time().minus(OBSERVED);
    double before =
        history.stream()
            .filter(point -> point.time().isBefore(from))
            .mapToDouble(HistoryPoint::liveBytes)
            .max()
            .orElse(Double.NaN);
    return history.isEmpty() ? 0 : history.get(history.size() - 1).liveBytes() - before;
  }

  /** Returns what is said of suspects that ask for nothing; empty without any. */
  private Optional<String> small() {
    List<SiteVerdict> small =
        known.leaks().suspicious().stream().filter(site -> site.verdict() != Verdict.POOL).toList();
    double bytes = unacknowledged().mapToDouble(DiagnosisRules::bytes).sum();
    return small.isEmpty()
        ? Optional.empty()
        : Optional.of(
            bytes > 0
                ? "suspects hold %s in all".formatted(Sentence.bytes(bytes))
                : "all suspects are acknowledged");
  }

  private Stream<SiteVerdict> unacknowledged() {
    return known.leaks().suspicious().stream()
        .filter(site -> site.verdict() != Verdict.POOL && !site.acknowledged());
  }

  private Duration observed() {
    Observation seen = known.leaks().observation();
    long nanos = seen.hasSeen() ? seen.epochEndNanos() - seen.startedNanos() : 0;
    return Duration.ofNanos((long) (nanos * known.options().get(Setting.LEAK_TIME_SCALE)));
  }

  /** Returns the suspects that ask for a state, the gravest first, of these what grows fastest. */
  private List<SiteVerdict> asking() {
    return unacknowledged()
        .filter(site -> asked(site) != State.HEALTHY)
        .sorted(
            Comparator.comparing(this::asked)
                .reversed()
                .thenComparing(site -> site.verdict() != Verdict.LEAK)
                .thenComparingDouble(site -> -Math.max(0, site.growth().bytesPerHour()))
                .thenComparingDouble(site -> -bytes(site)))
        .toList();
  }

  private State asked(SiteVerdict site) {
    return switch (site.verdict()) {
      case LEAK -> site.grows() ? State.ACT : State.WATCH;
      case UNUSED ->
          unusedBeforeLimit(site)
              ? State.ACT
              : unusedGrows(site) || isLarge(site) ? State.WATCH : State.HEALTHY;
      case GROWING -> isLarge(site) ? State.WATCH : State.HEALTHY;
      default -> State.HEALTHY;
    };
  }

  /**
   * Returns whether the limit comes before the longest timeout could free anything, and the site
   * makes up a quarter of the growth toward it.
   */
  private boolean unusedBeforeLimit(SiteVerdict site) {
    double left =
        known.options().get(Setting.LEAK_LONGEST_TIMEOUT).toSeconds()
            - site.suspected().oldestSeconds();
    double whole = growth.map(found -> found.slope().value()).orElse(0.0);
    return site.grows()
        && limit.lowerSeconds() < left
        && site.growth().bytesPerHour() / HOUR >= QUARTER * whole;
  }

  /** Returns whether unused objects of all sites that grow are too many. */
  private boolean unusedGrows(SiteVerdict site) {
    double bytes = 0;
    double perSecond = 0;
    for (SiteVerdict one : unacknowledged().toList()) {
      if (one.verdict() == Verdict.UNUSED && one.grows()) {
        bytes += bytes(one);
        perSecond += one.growth().bytesPerHour() / HOUR;
      }
    }
    return site.grows() && (bytes >= UNUSED_BYTES || perSecond >= UNUSED_PER_SECOND);
  }

  private boolean isLarge(SiteVerdict site) {
    double bytes = bytes(site);
    return bytes > SUSPECT_BYTES || bytes > SUSPECT_SHARE * limit.bytes();
  }

  static double bytes(SiteVerdict site) {
    double idle = site.suspected().bytes().value();
    return site.verdict() == Verdict.GROWING || Double.isNaN(idle)
        ? site.growth().liveBytes()
        : idle;
  }

  // ---- Growth

  /** The rules on the growth of the total. */
  private void growth() {
    if (growth.isEmpty()) {
      healthyOrTooEarly(growsNot());
      return;
    }
    ProcessGrowth found = growth.get();
    String text = grows(found);
    if (limitWithinHalfAnHour(found)) {
      found("growth", State.ACT, text);
    } else if (!found.goesOn()) {
      healthyOrTooEarly(text + "; the growth slows down");
    } else if (secondsLeft(found) >= A_DAY.toSeconds()) {
      healthyOrTooEarly(text);
    } else if (secondsLeft(found) < EXTRAPOLATED * (double) found.watched().toSeconds()) {
      found("growth", State.WATCH, text);
    } else {
      tooEarly(
          "growth", lower(text) + ", watched for " + Words.duration(found.watched()) + " so far");
    }
  }

  /** Nothing of growth has to be looked at, once enough is excluded. */
  private void healthyOrTooEarly(String text) {
    if (known.startedUp().isEmpty()) {
      tooEarly("growth", "the application is starting");
    } else if (watched().compareTo(WATCHED) < 0) {
      Instant shows = known.startedUp().get().plus(WATCHED);
      tooEarly(
          "growth",
          shows.isAfter(snapshot.time())
              ? "growth can be judged from " + atTheLatest(shows)
              : "watched for " + Words.duration(watched()));
    } else {
      Optional<Double> possible = possibleGrowth();
      if (possible.isPresent()) {
        tooEarly(
            "growth",
            "growth of %s is not excluded after %s"
                .formatted(Headline.rate(possible.get()), Words.duration(watched())));
      } else {
        found("growth", State.HEALTHY, text);
      }
    }
  }

  /**
   * Returns the growth in bytes per second that cannot be excluded and that would double the
   * process or reach the limit; empty if healthy is earned. A row with a configured maximum counts
   * with what is left to it. The last 10, 30 or 60 minutes suffice.
   */
  private Optional<Double> possibleGrowth() {
    double seconds =
        Math.max(
            A_DAY.toSeconds(),
            Math.min(A_WEEK.toSeconds(), EXCLUDED * (double) watched().toSeconds()));
    double room = limit.bytes() - limit.usedBytes();
    double least = Double.POSITIVE_INFINITY;
    Instant before = Instant.MAX;
    for (Duration window : new Duration[] {WINDOW, NEAR, Duration.ofHours(1)}) {
      Instant from =
          later(snapshot.time().minus(window), known.startedUp().orElse(snapshot.time()));
      Optional<Account> table =
          from.equals(before) ? Optional.empty() : account(from, Optional.empty());
      before = from;
      if (table.isPresent()) {
        List<Row> withMaximum =
            table.get().rows().stream()
                .filter(row -> BOUNDED_KINDS.contains(row.kind()))
                .filter(row -> !Double.isNaN(row.maximumBytes()))
                .toList();
        double upper = upperBeside(from, withMaximum.stream().map(Row::kind).toList());
        double needed =
            withMaximum.stream()
                .mapToDouble(
                    row -> Math.min(row.room(), Math.max(0, row.upperPerSecond()) * seconds))
                .sum();
        boolean little =
            upper * seconds < table.get().total().bytes() && !(needed + upper * seconds >= room);
        if (little || boundedGrowthFits(table.get(), seconds, room)) {
          return Optional.empty();
        }
        least = Math.min(least, upper);
      }
    }
    return Double.isInfinite(least) ? Optional.empty() : Optional.of(least);
  }

  /** Returns whether all rows fit the limit, at the upper bounds of their growth. */
  private static boolean boundedGrowthFits(Account table, double seconds, double room) {
    double needed = 0;
    double rest = table.total().upperPerSecond();
    for (Row row : table.rows()) {
      boolean bounded = !Double.isNaN(row.maximumBytes()) || row.plateau();
      if (row.lowerPerSecond() > 0 && !bounded && row.kind() != Kind.UNATTRIBUTED) {
        return false;
      }
      if (bounded && row.bytesPerSecond() > 0) {
        rest -= row.bytesPerSecond();
        needed += row.plateau() ? 0 : Math.min(row.room(), row.upperPerSecond() * seconds);
      }
    }
    return needed + Math.max(0, rest) * seconds < room;
  }

  /** Returns the upper bound of the total's growth without rows of these kinds, at least 0. */
  private double upperBeside(Instant from, List<Kind> kinds) {
    List<Reading> window =
        known.readings().stream().filter(one -> !one.time().isBefore(from)).toList();
    double[] seconds = new double[window.size()];
    double[] bytes = new double[window.size()];
    for (int i = 0; i < bytes.length; i++) {
      seconds[i] = Duration.between(from, window.get(i).time()).toNanos() / 1e9;
      bytes[i] = total(window.get(i));
      for (Kind kind : kinds) {
        bytes[i] -= AccountTable.bytes(window.get(i), kind);
      }
    }
    return Math.max(0, Trend.interval(seconds, bytes).upper());
  }

  private Duration watched() {
    List<HistoryPoint> points =
        known.history().stream()
            .filter(point -> !point.time().isBefore(known.startedUp().orElse(Instant.MAX)))
            .filter(point -> !Double.isNaN(figure.applyAsDouble(point)))
            .toList();
    return ProcessGrowth.watched(points, A_DAY);
  }

  private boolean limitWithinHalfAnHour(ProcessGrowth found) {
    return found.watched().compareTo(SURE) >= 0
        && found.isSteady()
        && found.isRecent()
        && limit.upperSeconds() < NEAR.toSeconds();
  }

  private double secondsLeft(ProcessGrowth found) {
    return Double.isNaN(limit.bytes()) ? doubledIn(found) : limit.seconds();
  }

  private double doubledIn(ProcessGrowth found) {
    List<HistoryPoint> history = known.history();
    return figure.applyAsDouble(history.get(history.size() - 1)) / found.slope().value();
  }

  private String grows(ProcessGrowth found) {
    Slope slope = found.slope();
    String lower = Sentence.bytes(slope.lower() * Headline.unit(slope.value()));
    String upper = Sentence.bytes(slope.upper() * Headline.unit(slope.value()));
    return "Memory grows %s%s since %s"
        .formatted(
            Headline.rate(slope.value()),
            lower.equals(upper) ? "" : " (%s to %s)".formatted(lower, upper),
            Words.minute(found.since()));
  }

  /** The rule on rows whose growth is counted: it needs no number of samples. */
  private void exactRows() {
    counted().stream()
        .findFirst()
        .ifPresent(
            row ->
                found(
                    "growth",
                    State.WATCH,
                    "%s grew by %s in %s"
                        .formatted(
                            Headline.place(row),
                            Sentence.bytes(row.growthBytes()),
                            Words.duration(
                                Duration.between(account.get().from(), account.get().to())))));
  }

  /** Returns the rows whose growth is counted and asks to be watched. */
  private List<Row> counted() {
    return account.map(Account::positive).orElse(List.of()).stream()
        .filter(
            row ->
                switch (row.kind()) {
                  case SITE, TMPFS ->
                      row.exact() && row.grows() && row.growthBytes() >= EXACT_BYTES;
                  case STACKS -> grows(Count.THREADS, EXACT_THREADS);
                  case METASPACE -> row.grows() && grows(Count.CLASSES, EXACT_CLASSES);
                  default -> false;
                })
        .toList();
  }

  private boolean grows(String count, double least) {
    return account
        .flatMap(table -> table.count(count))
        .filter(found -> found.steady() && found.growth() >= least)
        .isPresent();
  }

  // ---- The limit

  private void limit() {
    if (Double.isNaN(limit.usedShare())) {
      found("limit", State.HEALTHY, "No memory limit is known");
      return;
    }
    String text = "%s of the %s is used".formatted(Words.share(limit.usedShare()), ofBytes());
    boolean heap = heapBytes() >= MOSTLY * limit.usedBytes();
    String whole = text + (heap ? ", most of it by the Java heap" : "");
    boolean own =
        !limit.source().equals(Limit.MACHINE)
            || snapshot.memory().residentUsedBytes() >= limit.usedBytes() / 2;
    if (limit.usedShare() >= AT_THE_LIMIT) {
      String by = own ? whole : whole + ", most of it by other processes";
      found("limit", heap || !own ? State.WATCH : State.ACT, by);
    } else if (limit.usedShare() >= NEAR_THE_LIMIT && !heap) {
      found("limit", State.WATCH, whole);
    } else {
      found("limit", State.HEALTHY, whole);
    }
  }

  private String ofBytes() {
    if (Double.isNaN(limit.bytes())) {
      return "limit";
    }
    return (limit.source().equals(Limit.MACHINE) ? "machine's " : "limit of ")
        + Sentence.bytes(limit.bytes());
  }

  /** Returns the limit with the times at which the growth reaches it. */
  private Limit reached(ProcessGrowth found) {
    Slope slope = found.slope();
    return snapshot
        .memory()
        .limit()
        .reachedIn(
            secondsToLimit(slope.upper()),
            secondsToLimit(slope.value()),
            secondsToLimit(slope.lower()));
  }

  /** Rows that grow to a configured maximum take what is left to it, and no more. */
  private double secondsToLimit(double perSecond) {
    Limit reading = snapshot.memory().limit();
    double room = reading.bytes() - reading.usedBytes();
    for (Row row : account.map(Account::rows).orElse(List.of())) {
      room -= bounded.contains(row.kind()) ? row.room() : 0;
    }
    return Math.max(0, room) / perSecond;
  }

  private double heapBytes() {
    return part(ResidentPart.JAVA_HEAP).orElse(0.0);
  }

  // ---- The previous run

  private void previous() {
    known
        .previous()
        .filter(run -> run.reason().equals(PreviousRun.OOM))
        .ifPresent(
            run -> {
              Duration since = Duration.between(run.ended(), snapshot.time());
              Duration alive = Duration.between(known.started(), snapshot.time());
              Duration lived = Duration.between(run.started(), run.ended());
              boolean outlived = alive.compareTo(lived.multipliedBy(2)) > 0;
              State asked = since.compareTo(A_DAY) < 0 && !outlived ? State.WATCH : State.HEALTHY;
              boolean first = state.compareTo(State.WATCH) <= 0;
              found("previous", asked, run.sentence());
              // Before whatever else is to be watched.
              if (asked == State.WATCH && first) {
                sentence = run.sentence();
                named = List.of();
              }
              findings.add(0, findings.remove(findings.size() - 1));
            });
  }

  // ---- Reasons that ask for nothing

  private void counting() {
    if (!snapshot.status().active()) {
      found(
          "counting",
          State.HEALTHY,
          "Native allocations are not counted: " + snapshot.status().reason());
      return;
    }
    String gaps = snapshot.self().attachment().map(Attachment::gaps).orElse("");
    if (!gaps.isEmpty()) {
      found("counting", State.HEALTHY, "Not every native allocation is counted: " + gaps);
    }
  }

  /** A table that is full hides the call sites that come later. */
  private void missed() {
    if (missedShare() >= MISSED_SHARE) {
      found("missed", State.HEALTHY, capital(missedText()) + ": a leak there has no name");
    }
  }

  /** Returns the share of samples that have no call site; 0 where nothing is sampled. */
  private double missedShare() {
    SelfReport.Sampling sampling = snapshot.self().sampling();
    return sampling.withoutSite() > 0 ? sampling.withoutSite() / sampling.samples() : 0;
  }

  private String missedText() {
    return Words.share(missedShare())
        + " of the samples have no call site, because the table of call sites is full";
  }

  private void retained() {
    Optional<AllocatorStatistics> allocator = snapshot.allocator();
    if (allocator.isPresent()) {
      double bytes = part(ResidentPart.MALLOC_RETAINED).orElse(allocator.get().retainedBytes());
      String advice =
          allocator.get().advice().isEmpty() ? "" : ": " + allocator.get().advice().get(0).reason();
      found(
          "retained",
          State.HEALTHY,
          "The allocator retains %s%s".formatted(Words.bytes(bytes), advice));
    }
  }

  private void budget() {
    snapshot
        .memory()
        .budget()
        .filter(budget -> !Double.isNaN(budget.limitBytes()))
        .ifPresent(budget -> found("budget", State.HEALTHY, capital(budget.verdict())));
  }

  private void unexplained() {
    Optional<ResidentMemory> split = snapshot.memory().resident();
    part(ResidentPart.UNEXPLAINED)
        .filter(bytes -> bytes >= UNEXPLAINED_BYTES)
        .filter(bytes -> bytes >= UNEXPLAINED_SHARE * split.orElseThrow().totalBytes())
        .ifPresent(
            bytes ->
                found(
                    "unexplained",
                    State.HEALTHY,
                    Words.bytes(bytes) + " of the resident set is unexplained"));
  }

  /** Lists the account. */
  private void table() {
    account.ifPresent(
        table ->
            found(
                "account",
                State.HEALTHY,
                "%s memory changed by %s in %s: %s"
                    .formatted(
                        capital(table.basis()),
                        Words.change(table.total().growthBytes()),
                        Words.duration(Duration.between(table.from(), table.to())),
                        String.join(
                            ", ",
                            table.rows().stream()
                                .filter(row -> Math.abs(row.growthBytes()) >= LISTED_BYTES)
                                .limit(MOST_LISTED)
                                .map(
                                    row ->
                                        Words.shortName(row.name())
                                            + " "
                                            + Words.change(row.growthBytes()))
                                .toList()))));
  }

  /** Returns the growth of the pages of a file, which count toward no limit. */
  private Optional<String> files() {
    return account.map(Account::files).orElse(List.of()).stream()
        .filter(file -> file.growthBytes() >= FILE_BYTES)
        .findFirst()
        .map(
            file ->
                "pages of %s grew by %s, which the kernel can drop"
                    .formatted(file.name(), Sentence.bytes(file.growthBytes())));
  }

  // ---- What they share

  private Optional<Double> part(ResidentPart part) {
    return snapshot.memory().resident().flatMap(split -> split.of(part)).map(Long::doubleValue);
  }

  private void tooEarly(String topic, String what) {
    waits.add(what);
    found(topic, State.TOO_EARLY, capital(what));
  }

  /** Adds a finding. The first of the gravest gives the sentence. */
  private void found(String topic, State asked, String text) {
    findings.add(new Finding(topic, asked, text));
    if (asked.compareTo(state) > 0) {
      state = asked;
      sentence = text;
      named = List.of();
      if (asked.compareTo(State.TOO_EARLY) > 0
          && !topic.equals("limit")
          && !topic.equals("previous")) {
        sentence = headline.sentence();
        named = headline.named();
      }
    }
  }

  static String lower(String text) {
    return Character.toLowerCase(text.charAt(0)) + text.substring(1);
  }

  /** To the minute, rounded up. */
  private static String atTheLatest(Instant due) {
    return Words.minute(due.plusSeconds(59));
  }

  static String capital(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
