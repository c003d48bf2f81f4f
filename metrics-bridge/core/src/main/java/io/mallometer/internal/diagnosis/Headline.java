package io.mallometer.internal.diagnosis;

import io.mallometer.internal.leak.Sentence;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Count;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SiteVerdict.Garbage;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The sentence of a diagnosis with the state WATCH or ACT. It forecasts when the limit is reached,
 * and names the parts of memory that explain the growth.
 */
final class Headline {

  /**
   * The sentence names the parts of memory that together have this share of the growth, but at most
   * three.
   */
  static final double EXPLAINED = 0.6;

  /** A part of memory explains growth only if it has at least this share of the growth. */
  private static final double LEAST_EXPLAINED = 0.1;

  private static final int MOST_NAMED = 3;

  private static final double HALF = 0.5;

  /**
   * The sentence states which share of a suspect's live bytes is resident, if that share is below
   * this value.
   */
  private static final double MOSTLY_RESIDENT = 0.75;

  /**
   * The counts of the whole process. Every other count is the number of threads in one thread pool.
   */
  private static final List<String> COUNTS_OF_ALL =
      List.of(Count.THREADS, Count.ENDED_THREADS, Count.CLASSES, Count.DELETED_FILES);

  private static final List<Kind> PROPER_NAMES =
      List.of(Kind.MAPPED, Kind.SITE, Kind.POOL, Kind.HEAP);

  /** The kinds of memory that never explain growth, because they name no cause. */
  private static final List<Kind> KINDS_WITHOUT_CAUSE = List.of(Kind.OTHER_SITES, Kind.SAMPLING);

  /**
   * The largest number of words of the sentence. A longer sentence is shortened: it names fewer
   * parts of memory.
   */
  private static final int MOST_WORDS = 25;

  /**
   * The part of memory that the previous diagnosis named first stays first while its growth rate is
   * at least this fraction of the highest growth rate.
   */
  private static final double STAYS_FIRST = 2 / 3.0;

  private static final String AFTER_FORECAST = ". ";

  static final double HOUR = 3_600;

  private final DiagnosisInput input;
  private final Optional<ProcessGrowth> growth;
  private final Optional<Account> account;
  private final PoolChunks chunks;
  private final Limit limit;

  /** The kinds of memory that grow to a maximum. The sentence names them last. */
  private final List<Kind> bounded;

  /** The rows of the account whose growth is certain and large enough for the state WATCH. */
  private final List<Row> certainRows;

  private final List<SiteVerdict> urgentSuspects;

  /**
   * The part of memory that grows most. Empty if there are no urgent suspects, or if another urgent
   * suspect may grow as fast: the confidence intervals of the two growth rates overlap.
   */
  private final Optional<Row> fastest;

  private final List<Row> named;
  private String sentence;

  private boolean omitsSuspectCount;

  Headline(
      DiagnosisInput input,
      TotalGrowth total,
      Limit limit,
      List<Row> certainRows,
      List<SiteVerdict> urgentSuspects) {
    this.input = input;
    this.growth = total.growth();
    this.account = total.account();
    this.chunks = new PoolChunks(input.snapshot().pools());
    this.limit = limit;
    this.bounded = total.bounded();
    this.certainRows = certainRows.stream().map(this::accountRow).toList();
    this.urgentSuspects = urgentSuspects;
    this.fastest = fasterThanSuspects();
    this.named = rowsToName();
    this.sentence = composed();
    for (int i = named.size() - 1; i >= 0 && !isBrief(sentence); i--) {
      if (named.size() > 1 && !isNeeded(named.get(i))) {
        named.remove(i);
        sentence = composed();
      }
    }
    if (!isBrief(sentence)) {
      omitsSuspectCount = true;
      sentence = composed();
    }
  }

  String sentence() {
    return sentence;
  }

  /**
   * Returns a sentence that begins with {@code begin}. Leaves out parts that would make it longer
   * than 25 words.
   */
  static String join(String begin, String separator, List<String> parts) {
    String sentence = begin;
    for (String part : parts) {
      String longer = sentence.equals(begin) ? begin + part : sentence + separator + part;
      if (sentence.equals(begin) || isBrief(longer)) {
        sentence = longer;
      }
    }
    return sentence;
  }

  static boolean isBrief(String sentence) {
    return sentence.split(" ").length <= MOST_WORDS;
  }

  /** Returns a sentence without its forecast, which a later reading makes invalid. */
  static String withoutForecast(String sentence) {
    int end = sentence.indexOf(AFTER_FORECAST);
    return end < 0 ? sentence : sentence.substring(end + AFTER_FORECAST.length());
  }

  /**
   * Returns the row that certainly grows and has at least 60 % of the growth of all rows without a
   * configured maximum; empty if there is none.
   */
  static Optional<Row> mostOf(Account account) {
    List<Row> rows =
        account.positive().stream().filter(row -> Double.isNaN(row.maximumBytes())).toList();
    double all = rows.stream().mapToDouble(Row::growthBytes).sum();
    return rows.stream()
        .filter(row -> row.kind() != Kind.UNATTRIBUTED && !KINDS_WITHOUT_CAUSE.contains(row.kind()))
        .filter(row -> row.lowerPerSecond() > 0 && row.growthBytes() >= EXPLAINED * all)
        .findFirst();
  }

  List<Row> named() {
    return named;
  }

  private String composed() {
    String forecast = forecast();
    String subjects =
        named.isEmpty() ? totalText() : named.size() == 1 ? oneRowText(named.get(0)) : rowsText();
    if (forecast.isEmpty()) {
      return subjects;
    }
    return forecast + (subjects.isEmpty() ? "" : AFTER_FORECAST + subjects);
  }

  private String totalText() {
    return growth.map(found -> "Memory grows " + Sentence.rate(found.slope().value())).orElse("");
  }

  private Row accountRow(Row row) {
    return account.map(Account::rows).orElse(List.of()).stream()
        .filter(found -> found.kind() == row.kind() && found.name().equals(row.name()))
        .filter(found -> row.kind() != Kind.MAPPED || found.place().equals(row.place()))
        .filter(found -> found.growthBytes() > 0)
        .findFirst()
        .orElse(row);
  }

  private boolean isNeeded(Row row) {
    return isCertain(row) || fastest.filter(row::equals).isPresent();
  }

  private boolean isCertain(Row row) {
    return certainRows.contains(row)
        || suspect(row).map(SiteVerdict::verdict).filter(Verdict.LEAK::equals).isPresent();
  }

  /** Determines {@link #fastest}. */
  private Optional<Row> fasterThanSuspects() {
    List<Row> suspects = urgentSuspects.stream().map(this::row).toList();
    return explanations().stream()
        .limit(suspects.isEmpty() ? 0 : 1)
        .filter(
            row ->
                suspects.stream()
                    .filter(suspect -> !suspect.equals(row))
                    .allMatch(suspect -> row.lowerPerSecond() > suspect.upperPerSecond()))
        .findFirst();
  }

  /**
   * Returns at most three rows to name: rows whose growth is certain, rows of suspects, and rows
   * that have most of the growth.
   */
  private List<Row> rowsToName() {
    List<Row> rows = new ArrayList<>(certainRows);
    if (certainRows.stream().anyMatch(row -> row.kind() == Kind.METASPACE)) {
      // Metaspace grows when code loads classes without end. Such code also keeps objects of these
      // classes, so a growing heap is named too.
      positive().stream()
          .filter(row -> row.kind() == Kind.HEAP && row.lowerPerSecond() > 0)
          .forEach(rows::add);
    }
    fastest.filter(row -> !rows.contains(row)).ifPresent(rows::add);
    boolean few = urgentSuspects.size() <= MOST_NAMED;
    for (SiteVerdict suspect : urgentSuspects) {
      Row row = row(suspect);
      boolean names = few || suspect.verdict() == Verdict.LEAK;
      if (names && row.bytesPerSecond() > 0 && !rows.contains(row)) {
        rows.add(row);
      }
    }
    if (growth.isPresent()) {
      explaining().stream().filter(row -> !rows.contains(row)).forEach(rows::add);
    }
    boolean fastestAlone = rows.size() == 1 && fastest.filter(rows.get(0)::equals).isPresent();
    urgentSuspects.stream()
        .limit(rows.isEmpty() || fastestAlone ? 1 : 0)
        .map(this::row)
        .filter(row -> !rows.contains(row))
        .forEach(rows::add);
    if (rows.size() > MOST_NAMED) {
      rows.subList(MOST_NAMED, rows.size()).clear();
    }
    rows.sort(
        Comparator.comparing((Row row) -> bounded.contains(row.kind()))
            .thenComparing(row -> !isNeeded(row))
            .thenComparingDouble(row -> -row.bytesPerSecond()));
    input
        .firstRow()
        .flatMap(first -> positive().stream().filter(row -> row.name().equals(first)).findFirst())
        .filter(row -> !rows.isEmpty() && isNeeded(row) == isNeeded(rows.get(0)))
        .filter(row -> row.bytesPerSecond() >= STAYS_FIRST * rows.get(0).bytesPerSecond())
        .ifPresent(
            row -> {
              rows.remove(row);
              rows.add(0, row);
              rows.subList(Math.min(rows.size(), MOST_NAMED), rows.size()).clear();
            });
    return rows;
  }

  /**
   * Returns the rows of {@link #explanations()} that grew most. Stops after three rows, or when the
   * returned rows have 60 % of the growth of all rows of {@link #explanations()}.
   */
  private List<Row> explaining() {
    List<Row> rows = new ArrayList<>();
    double left = EXPLAINED * explainable();
    for (Row row : explanations()) {
      if (left > 0 && rows.size() < MOST_NAMED) {
        rows.add(row);
        left -= row.growthBytes();
      }
    }
    return rows;
  }

  private List<Row> positive() {
    return account.map(Account::positive).orElse(List.of());
  }

  /**
   * Returns the rows that can explain the growth: rows without a maximum that have at least a tenth
   * of the growth. Rows whose growth is uncertain are left out, except call sites in the
   * application's code and exactly counted call sites.
   */
  private List<Row> explanations() {
    List<Row> rows = positive().stream().filter(row -> !bounded.contains(row.kind())).toList();
    double least = LEAST_EXPLAINED * rows.stream().mapToDouble(Row::growthBytes).sum();
    return rows.stream()
        .filter(row -> row.growthBytes() >= least)
        .filter(
            row ->
                row.kind() == Kind.SITE
                    ? row.exact() || row.lowerPerSecond() > 0 || !row.place().isEmpty()
                    : !KINDS_WITHOUT_CAUSE.contains(row.kind())
                        && (row.lowerPerSecond() > 0 || isCertain(row)))
        .toList();
  }

  private double explainable() {
    return explanations().stream().mapToDouble(Row::growthBytes).sum();
  }

  /**
   * Returns the account's row for the pool of a suspect, or else the account's row for the suspect
   * itself. If the account has neither, returns a row with the numbers of the suspect's verdict.
   */
  private Row row(SiteVerdict site) {
    Optional<Row> pool =
        chunks
            .of(site.site().number())
            .filter(name -> site.verdict() != Verdict.LEAK)
            .flatMap(name -> account.flatMap(table -> table.row(Kind.POOL, name)));
    if (pool.isPresent()) {
      return pool.get();
    }
    double perSecond = Math.max(0, site.growth().bytesPerHour()) / HOUR;
    return account
        .flatMap(table -> table.row(Kind.SITE, site.site().name()))
        .orElse(
            new Row(
                Kind.SITE,
                site.site().name(),
                StackFrame.place(site.site().frames(), site.site().name()),
                site.growth().liveBytes(),
                Double.NaN,
                perSecond,
                Double.isNaN(perSecond) ? 0 : perSecond,
                perSecond,
                false,
                false,
                Double.NaN,
                0));
  }

  Optional<SiteVerdict> suspect(Row row) {
    return input.leaks().suspicious().stream()
        .filter(site -> site.verdict().compareTo(Verdict.POOL) < 0 && !site.acknowledged())
        .filter(site -> row.kind() == Kind.SITE && site.site().name().equals(row.name()))
        .findFirst();
  }

  private String oneRowText(Row row) {
    if (row.kind() == Kind.UNATTRIBUTED) {
      return "Memory grows %s, cause not known yet".formatted(rate(row));
    }
    Optional<SiteVerdict> suspect = suspect(row);
    if (suspect.isEmpty()) {
      return adds(row) + detail(row);
    }
    SiteVerdict site = suspect.get();
    long others = urgentSuspects.stream().filter(other -> !other.equals(site)).count();
    String more =
        others == 0 || omitsSuspectCount
            ? ""
            : "; %d more %s".formatted(others, others == 1 ? "suspect" : "suspects");
    return switch (site.verdict()) {
          case LEAK -> leak(site, row);
          case UNUSED -> unused(site, row);
          case WAITS_FOR_GC -> adds(row) + detail(row);
          default ->
              "%s adds %s, holds %s"
                      .formatted(place(row), rate(row), Sentence.bytes(DiagnosisRules.bytes(site)))
                  + detail(row);
        }
        + more;
  }

  private String unused(SiteVerdict site, Row row) {
    if (!site.grows()) {
      return "%s holds %s not accessed for %s or more"
          .formatted(
              place(row),
              Sentence.bytes(DiagnosisRules.bytes(site)),
              Sentence.atLeast(site.suspected().idleSeconds()));
    }
    boolean mayBeGarbage = garbage(input.leaks(), row.name()).answer() == GarbageAnswer.NOT_YET;
    return mayBeGarbage
        ? adds(row) + detail(row)
        : adds(row) + ", none of it accessed: a leak or a large cache";
  }

  private String adds(Row row) {
    String rate = rate(row);
    if (suspect(row).map(SiteVerdict::verdict).filter(Verdict.LEAK::equals).isPresent()) {
      return place(row) + " leaks " + rate;
    }
    if (row.kind() == Kind.RETAINED) {
      return "Malloc retains %s more".formatted(rate);
    }
    if (row.kind() == Kind.POOL && !(row.bytesPerSecond() > 0)) {
      return place(row) + " hold " + Sentence.bytes(row.bytes());
    }
    if (row.kind() == Kind.MAPPED) {
      return "%s maps %s".formatted(place(row), rate);
    }
    boolean plural = row.kind() != Kind.SITE && row.name().endsWith("s");
    return place(row) + (plural ? " add " : " adds ") + rate;
  }

  private String leak(SiteVerdict leak, Row row) {
    String amount = Sentence.bytes(DiagnosisRules.bytes(leak));
    String how =
        leak.grounds().evidence() == LeakEvidence.LOST
            ? amount + " lost so far"
            : "%s not accessed for %s or more"
                .formatted(amount, Sentence.atLeast(leak.suspected().idleSeconds()));
    if (leak.grows()) {
      return "%s leaks %s, %s".formatted(place(row), rate(row), how);
    }
    return "%s leaked: %s; %s"
        .formatted(
            place(row),
            how,
            leak.growth()
                .stopped()
                .map(since -> "it has not grown since " + HumanText.minute(since))
                .orElse("whether it grows is not known yet"));
  }

  private String rowsText() {
    List<String> list = new ArrayList<>();
    for (Row row : named) {
      String adds = adds(row) + (hasDetail(row) ? detail(row) : "");
      boolean proper = list.isEmpty() || PROPER_NAMES.contains(row.kind());
      list.add(proper ? adds : DiagnosisRules.uncapitalized(adds));
    }
    double explained = named.stream().mapToDouble(Row::growthBytes).sum();
    boolean most = !(explained < EXPLAINED * explainable());
    return (most ? "" : "Several grow: ") + String.join(", ", list);
  }

  /**
   * Returns whether the text on a row includes its {@link #detail}. A pool's detail is long, so it
   * is included only if the pool is the first row and fewer than three rows are named.
   */
  private boolean hasDetail(Row row) {
    boolean few = named.size() < MOST_NAMED;
    return row.kind() == Kind.POOL ? few && row.equals(named.get(0)) : few || isNeeded(row);
  }

  private static boolean isOfCode(Row row) {
    return row.kind() == Kind.SITE || row.kind() == Kind.MAPPED;
  }

  static String place(Row row) {
    String name =
        isOfCode(row) ? HumanText.shortName(row.name()) : DiagnosisRules.capitalized(row.name());
    return isOfCode(row) && !row.place().isEmpty() ? name + " (" + row.place() + ")" : name;
  }

  /**
   * Returns what explains the growth of a part of memory, such as the number of new threads; empty
   * if nothing is known.
   */
  private String detail(Row row) {
    return switch (row.kind()) {
      case SITE -> garbage(row).isEmpty() ? "" : ", " + garbage(row);
      case POOL -> row.place().isEmpty() ? "" : ", kept by buffers from " + row.place();
      case STACKS -> threads(row);
      case METASPACE -> count(Count.CLASSES, "");
      case RETAINED ->
          input
              .snapshot()
              .allocator()
              .filter(allocator -> allocator.arenas() > 0)
              .map(allocator -> " in %.0f arenas".formatted(allocator.arenas()))
              .orElse("");
      default -> "";
    };
  }

  /**
   * Returns the garbage (unreachable, not yet freed) of the call sites with this name. Call sites
   * with the verdict leak are left out.
   */
  static Garbage garbage(LeakReport leaks, String name) {
    return leaks.garbage().getOrDefault(name, Garbage.NONE);
  }

  /**
   * Returns in words how much of a call site's growth a garbage collection frees; empty if it is
   * little.
   */
  String garbage(Row row) {
    Garbage garbage = garbage(input.leaks(), row.name());
    if (garbage.answer() == GarbageAnswer.YOUNG) {
      return "which a young garbage collection frees";
    }
    if (garbage.answer() == GarbageAnswer.NOT_YET) {
      return "which the next garbage collection may free";
    }
    double rate = Math.min(garbage.bytesPerSecond(), row.bytesPerSecond());
    return garbage.answer() == GarbageAnswer.OLD && rate >= LEAST_EXPLAINED * row.bytesPerSecond()
        ? "of which an old garbage collection frees %s, the last %s ago"
            .formatted(Sentence.rate(rate), Sentence.atLeast(garbage.lastOldSeconds()))
        : "";
  }

  private String threads(Row row) {
    double most =
        HALF * account.flatMap(table -> table.count(Count.THREADS)).map(Count::growth).orElse(0.0);
    String pool =
        account.map(Account::counts).orElse(List.of()).stream()
            .filter(count -> !COUNTS_OF_ALL.contains(count.name()) && count.growth() > most)
            .findFirst()
            .map(count -> ", %.0f are %s".formatted(count.count(), count.name()))
            .orElse("");
    String ended =
        account
            .flatMap(table -> table.count(Count.ENDED_THREADS))
            .filter(count -> count.growth() < HALF)
            .map(count -> ", none ended")
            .orElse("");
    String all = count(Count.THREADS, ended + pool);
    return all.isEmpty() || row.place().isEmpty() ? all : all + " started by " + row.place();
  }

  private String count(String name, String more) {
    return account
        .flatMap(table -> table.count(name))
        .filter(count -> count.perMinute() >= 1)
        .map(count -> " (%.0f %s/min%s)".formatted(count.perMinute(), name, more))
        .orElse("");
  }

  private String forecast() {
    double seconds = limit.seconds();
    if (!(seconds < Duration.ofDays(60).toSeconds())) {
      return "";
    }
    String when =
        seconds > 2 * HOUR ? "in " + HumanText.roughly(seconds(seconds)) : "at " + at(seconds);
    return switch (limit.source()) {
      case Limit.CGROUP -> "OOM kill expected " + when;
      case Limit.STATED -> "Limit of %s reached %s".formatted(Sentence.bytes(limit.bytes()), when);
      default -> "Machine's memory used up " + when;
    };
  }

  String at(double seconds) {
    return HumanText.minute(input.snapshot().time().plus(seconds(seconds)));
  }

  static Duration seconds(double seconds) {
    return seconds < Duration.ofDays(3_650).toSeconds()
        ? Duration.ofSeconds((long) seconds)
        : Duration.ZERO;
  }

  /**
   * Returns the growth rate in words. A suspect's rate is the growth of its live bytes, taken from
   * its {@link SiteVerdict}. If much of the suspect's memory is not resident, the text adds the
   * resident share.
   */
  private String rate(Row row) {
    double perHour = suspect(row).map(site -> site.growth().bytesPerHour()).orElse(Double.NaN);
    if (!(perHour > 0)) {
      return Sentence.rate(row.bytesPerSecond());
    }
    double live = perHour / HOUR;
    double share = residentShare(row.name());
    return share < MOSTLY_RESIDENT
        ? "%s (%s resident)".formatted(Sentence.rate(live), HumanText.share(share))
        : Sentence.rate(live);
  }

  private double residentShare(String name) {
    return input.sites().map(SiteTrends::groups).orElse(List.of()).stream()
        .filter(group -> group.figures().key().equals(name))
        .mapToDouble(group -> AccountTable.residentShare(group.figures()))
        .findFirst()
        .orElse(1);
  }
}
