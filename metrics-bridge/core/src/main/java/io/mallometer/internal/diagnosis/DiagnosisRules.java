package io.mallometer.internal.diagnosis;

import io.mallometer.internal.leak.Sentence;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.internal.process.Collector;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.Account;
import io.mallometer.model.Account.Count;
import io.mallometer.model.Account.Kind;
import io.mallometer.model.Account.Row;
import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Finding;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.Diagnosis.State;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Observation;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SiteVerdict.Garbage;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Draws the diagnosis from the growth of each part of memory and the verdicts on call sites. Each
 * rule is a method that examines one topic and adds one finding with a state. The gravest state
 * wins. {@code docs/explanation/diagnosis.md} describes each rule in a row of a table.
 */
public final class DiagnosisRules {

  /**
   * The state can be ACT if at least this share of the limit is used, because the kernel might fail
   * to reclaim memory.
   */
  private static final double AT_THE_LIMIT = 0.95;

  private static final double NEAR_THE_LIMIT = 0.9;

  /**
   * The Java heap is the reason for high memory if it has at least this share of the used bytes.
   * Another rule, which checks whether the heap can outgrow the limit, applies once this share of
   * the limit is used.
   */
  private static final double MOST_SHARE = 2 / 3.0;

  private static final Duration NEAR = Duration.ofMinutes(30);
  private static final Duration NEAR_WHILE_ACT = Duration.ofMinutes(45);

  /** Growth must be watched for this long before it causes the state WATCH or ACT. */
  private static final Duration SHORTEST_WATCH = Duration.ofMinutes(2);

  /** Growth is extrapolated to at most this many times the time for which it was watched. */
  private static final int EXTRAPOLATED = 24;

  /**
   * Growth during a warm-up slows down, so it is extrapolated to at most five times the time for
   * which it was watched. Growth that was watched for less than {@link #SHORTEST_WATCH} counts if
   * it would reach the limit within five times the watched time.
   */
  private static final int WARM_UP_FACTOR = 5;

  /** The kinds of memory that grow in every program that warms up. */
  private static final Set<Kind> WARM_UP_KINDS =
      EnumSet.of(
          Kind.HEAP,
          Kind.METASPACE,
          Kind.CODE,
          Kind.JVM,
          Kind.MALLOMETER,
          Kind.RETAINED,
          Kind.MALLOC,
          Kind.LIVE,
          Kind.OTHER_SITES,
          Kind.SAMPLING,
          Kind.KERNEL,
          Kind.SOCKETS);

  /** A process without growth must be watched for this long before it is healthy. */
  private static final Duration HEALTHY_WATCH = Duration.ofMinutes(3);

  /**
   * The diagnosis says "no unused memory grows" only after the program's accesses to memory were
   * observed for at least this long.
   */
  private static final Duration SHORTEST_OBSERVATION = Duration.ofMinutes(5);

  private static final double SUSPECT_SHARE = 0.05;
  private static final double SUSPECT_BYTES = 64 << 20;

  /** The state is WATCH if growing sites together have at least this many unused bytes. */
  private static final double UNUSED_BYTES = 8 << 20;

  private static final double UNUSED_PER_SECOND = (1 << 20) / 60.0;

  /**
   * The state is WATCH if a part of memory certainly grows, and grew by at least this many bytes.
   */
  private static final double CERTAIN_BYTES = 8 << 20;

  private static final double CERTAIN_SHARE = 0.01;
  private static final double HALF = 0.5;

  /**
   * The diagnosis names the method that is being compiled if the JVM's compiler uses at least this
   * many bytes.
   */
  private static final double COMPILATION_BYTES = 32 << 20;

  private static final Pattern SHELL_SIGNS = Pattern.compile("[$<]");

  private static final double MANY_THREADS = 50;
  private static final double MANY_CLASSES = 500;
  private static final double MANY_CLASSES_PER_MINUTE = 100;

  /** The state of a site can be ACT if the site has at least this share of the process's growth. */
  private static final double ACT_SHARE = 0.25;

  private static final double UNEXPLAINED_SHARE = 0.05;
  private static final double UNEXPLAINED_BYTES = 32 << 20;

  private static final double FILE_BYTES = 16 << 20;

  /** A leak could be hidden if at least this share of the samples has no call site. */
  private static final double MISSED_SHARE = 0.1;

  static final String SAVE = "Save the evidence";

  private static final String CAN_BE_JUDGED = " can be judged from ";
  private static final String TOO_EARLY = "Too early to tell: ";
  private static final double LISTED_BYTES = 1 << 20;
  private static final int MOST_LISTED = 12;

  private static final String HEAP = "heap";

  /** The topics of findings on used memory, not on growth. */
  private static final List<String> LIMIT_TOPICS = List.of("limit", HEAP, "previous");

  private final DiagnosisInput input;
  private final Snapshot snapshot;
  private final TotalGrowth total;
  private final Optional<ProcessGrowth> growth;
  private final Optional<Account> account;

  /**
   * The {@link #account} if it covers at least two minutes, otherwise the account of the last ten
   * minutes.
   */
  private final Optional<Account> longAccount;

  private final Limit limit;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> waitReasons = new ArrayList<>();

  /** The subjects that cannot be judged yet, with the time from which they can. */
  private final Map<String, Instant> undecided = new LinkedHashMap<>();

  private final Headline headline;

  private List<Row> named = List.of();

  private String sentence = "";
  private State state = State.HEALTHY;

  private DiagnosisRules(DiagnosisInput input) {
    this.input = input;
    this.snapshot = input.snapshot();
    this.total = new TotalGrowth(input);
    this.growth = total.growth();
    this.account = total.account();
    this.longAccount = account.filter(DiagnosisRules::isLong).or(total::tenMinuteAccount);
    this.limit = total.limit();
    this.headline = new Headline(input, total, foreseeableLimit(), certainRows(), urgentSuspects());
  }

  public static Diagnosis diagnosis(DiagnosisInput input) {
    DiagnosisRules rules = new DiagnosisRules(input);
    rules.judgeSuspects();
    rules.judgeGrowth();
    rules.judgeGrowingRows();
    rules.reportHeldBuffers();
    rules.reportGarbage();
    rules.judgeLimit();
    rules.judgePreviousRun();
    rules.reportCounting();
    rules.reportMissedSamples();
    rules.reportCompilation();
    rules.reportClassLoaders();
    rules.reportRetained();
    rules.reportBudget();
    rules.reportUnexplained();
    rules.reportAccount();
    return rules.toDiagnosis();
  }

  private Diagnosis toDiagnosis() {
    findings.sort(Comparator.comparing(Finding::state).reversed());
    return new Diagnosis(
        state,
        snapshot.time(),
        switch (state) {
          case HEALTHY -> healthySentence();
          case TOO_EARLY -> tooEarlySentence();
          default -> sentence;
        },
        actions(),
        foreseeableLimit(),
        input.run().previous(),
        findings,
        account,
        total.hourAccount(),
        state.compareTo(State.TOO_EARLY) > 0 ? named.stream().map(Row::name).toList() : List.of());
  }

  private String tooEarlySentence() {
    if (!undecided.isEmpty()) {
      Instant last = Collections.max(undecided.values());
      waitReasons.add(
          0, String.join(" and ", undecided.keySet()) + CAN_BE_JUDGED + atTheLatest(last));
    }
    filePagesText().ifPresent(grown -> waitReasons.add(Math.min(1, waitReasons.size()), grown));
    return Headline.join(TOO_EARLY, ", ", waitReasons);
  }

  /** Returns the sentence of a diagnosis with the state TOO_EARLY, without "Too early to tell". */
  static String reasons(Diagnosis early) {
    return capitalized(early.sentence().substring(TOO_EARLY.length()));
  }

  private String healthySentence() {
    List<String> parts = new ArrayList<>();
    parts.add(littleGrowthText());
    boolean blind = missedShare() >= MISSED_SHARE;
    if (blind) {
      parts.add(missedSamplesText());
    }
    filePagesText().ifPresent(text -> parts.add(text + ", which the kernel can drop"));
    if (!Double.isNaN(limit.usedShare())) {
      parts.add("%s of the %s is used".formatted(HumanText.share(limit.usedShare()), limitText()));
    }
    if (!snapshot.status().active()) {
      parts.add("native allocations are not counted");
    } else if (!blind && observed().compareTo(SHORTEST_OBSERVATION) >= 0) {
      parts.add(smallSuspectsText().orElse("no unused memory grows"));
    }
    return Headline.join("", "; ", parts);
  }

  private String littleGrowthText() {
    String most =
        total.bounded().isEmpty()
            ? ""
            : ", %s the %s toward its maximum"
                .formatted(
                    growth.isEmpty() && mostlyBounded() ? "mostly" : "beside",
                    total.bounded().get(0).words());
    if (growth.isEmpty()) {
      return total.bounded().isEmpty() ? noGrowthText() : "Memory grows little" + most;
    }
    return "Memory grows " + Sentence.rate(growth.get().slope().value()) + most;
  }

  private boolean mostlyBounded() {
    return account
        .filter(
            table ->
                table.positive().stream()
                        .filter(row -> total.bounded().contains(row.kind()))
                        .mapToDouble(Row::growthBytes)
                        .sum()
                    >= HALF * table.positiveBytes())
        .isPresent();
  }

  private String noGrowthText() {
    return "Memory shows no steady growth in " + HumanText.duration(total.watched());
  }

  // ---- Choosing the advised actions

  private List<String> actions() {
    List<String> actions = new ArrayList<>();
    if (state == State.ACT) {
      actions.add(
          foreseeableLimit().upperSeconds() < NEAR.toSeconds()
              ? SAVE + ", and restart before " + headline.at(limit.lowerSeconds())
              : SAVE);
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

  private String remedy(Row row) {
    return switch (row.kind()) {
      case SITE ->
          headline.suspect(row).map(SiteVerdict::verdict).filter(Verdict.LEAK::equals).isPresent()
              ? "Free or close what " + Headline.place(row) + " allocates"
              : "Close what %s allocates, or bound how much is kept".formatted(Headline.place(row));
      case POOL ->
          row.place().isEmpty()
              ? ""
              : "Release what %s allocates, or bound how much is kept".formatted(row.place());
      case MAPPED -> "Unmap what %s maps, or bound it".formatted(Headline.place(row));
      case RETAINED -> retainLess();
      case STACKS -> "End the threads, or bound the pool that starts them";
      case HEAP -> "Find what the heap keeps by a heap dump, or set a smaller -Xmx";
      case METASPACE -> "Reuse generated classes and class loaders";
      case OTHERS -> "Look at the other processes of the cgroup";
      case TMPFS, SHARED -> "Delete files in tmpfs, or move them to a disk";
      default -> "";
    };
  }

  private String retainLess() {
    String name = snapshot.self().allocator();
    String setting =
        snapshot.allocator().map(AllocatorStatistics::advice).orElse(List.of()).stream()
            .map(Advice::setting)
            .findFirst()
            .orElse(AllocatorKind.named(name).setting());
    return setting.isEmpty()
        ? "Preload another allocator, such as jemalloc: no setting of %s is known".formatted(name)
        : "Trim malloc, or set " + setting;
  }

  private String runbook() {
    return switch (findings.get(0).topic()) {
      case "previous" -> "after-a-kill";
      case "limit", HEAP -> "near-limit";
      default ->
          switch (named.isEmpty() ? Kind.TOTAL : named.get(0).kind()) {
            case SITE -> ofSite(named.get(0));
            case RETAINED -> "retained";
            case HEAP -> "near-limit";
            case ANONYMOUS, UNATTRIBUTED -> "unexplained";
            default -> "reaches-limit";
          };
    };
  }

  private String ofSite(Row row) {
    return switch (headline.suspect(row).map(SiteVerdict::verdict).orElse(Verdict.HEALTHY)) {
      case LEAK, UNUSED -> "leak-suspected";
      default -> "reaches-limit";
    };
  }

  // ---- Judging suspected call sites

  private void judgeSuspects() {
    if (!snapshot.status().active()) {
      return;
    }
    List<SiteVerdict> suspects = urgentSuspects();
    if (suspects.isEmpty()) {
      judgeWithoutSuspects();
      return;
    }
    addFinding("leaks", stateFor(suspects.get(0)), suspects.get(0).sentence());
  }

  private void judgeWithoutSuspects() {
    LeakReport leaks = input.leaks();
    String why = leaks.reason().isEmpty() ? leaks.observation().reason() : leaks.reason();
    if (!why.isEmpty()) {
      addFinding("leaks", State.HEALTHY, "Accesses to objects are not observed: " + why);
    } else if (observed().compareTo(SHORTEST_OBSERVATION) < 0) {
      if (!leaks.observation().hasSeen()) {
        addTooEarly("leaks", "accesses to objects are not observed yet");
        return;
      }
      double left =
          SHORTEST_OBSERVATION.minus(observed()).toNanos()
              / input.options().get(Setting.LEAK_TIME_SCALE);
      Instant due = leaks.time().plusNanos((long) left);
      addJudgedFrom("leaks", "unused memory", due);
    } else if (bytesTooNew() > SUSPECT_BYTES && !(bytesTooNew() < SUSPECT_SHARE * limit.bytes())) {
      addTooEarly(
          "leaks",
          "whether the %s allocated in the last %s are used"
              .formatted(Sentence.bytes(bytesTooNew()), HumanText.duration(SHORTEST_OBSERVATION)));
    } else {
      addFinding(
          "leaks",
          State.HEALTHY,
          capitalized(smallSuspectsText().orElse("no unused memory grows")));
    }
  }

  /**
   * Returns how many live bytes are too new to judge: the present live bytes, minus the maximum of
   * the live bytes in readings that are more than five minutes old.
   */
  private double bytesTooNew() {
    List<HistoryPoint> history = input.history();
    Instant from = snapshot.time().minus(SHORTEST_OBSERVATION);
    double before =
        history.stream()
            .filter(point -> point.time().isBefore(from))
            .mapToDouble(HistoryPoint::liveBytes)
            .max()
            .orElse(Double.NaN);
    return history.isEmpty() ? 0 : history.get(history.size() - 1).liveBytes() - before;
  }

  private Optional<String> smallSuspectsText() {
    List<SiteVerdict> small =
        input.leaks().suspicious().stream()
            .filter(site -> site.verdict().compareTo(Verdict.GROWING) <= 0)
            .toList();
    double bytes = unacknowledged().mapToDouble(DiagnosisRules::bytes).sum();
    return small.isEmpty()
        ? Optional.empty()
        : Optional.of(
            bytes > 0
                ? "suspects hold %s in all".formatted(Sentence.bytes(bytes))
                : "all suspects are acknowledged");
  }

  private Stream<SiteVerdict> unacknowledged() {
    return input.leaks().suspicious().stream()
        .filter(site -> site.verdict().compareTo(Verdict.GROWING) <= 0 && !site.acknowledged());
  }

  private Duration observed() {
    Observation seen = input.leaks().observation();
    long nanos = seen.hasSeen() ? seen.period().epochEndNanos() - seen.period().startedNanos() : 0;
    return Duration.ofNanos((long) (nanos * input.options().get(Setting.LEAK_TIME_SCALE)));
  }

  private List<SiteVerdict> urgentSuspects() {
    return unacknowledged()
        .filter(site -> stateFor(site) != State.HEALTHY)
        .sorted(
            Comparator.comparing(this::stateFor)
                .reversed()
                .thenComparing(site -> site.verdict() != Verdict.LEAK)
                .thenComparingDouble(site -> -Math.max(0, site.growth().bytesPerHour()))
                .thenComparingDouble(site -> -bytes(site)))
        .toList();
  }

  private State stateFor(SiteVerdict site) {
    return switch (site.verdict()) {
      case LEAK -> site.grows() ? State.ACT : State.WATCH;
      case UNUSED ->
          unusedBeforeLimit(site)
              ? State.ACT
              : unusedGrows(site) || isLarge(site) ? State.WATCH : State.HEALTHY;
      case GROWING -> isLarge(site) && growsNow(site) ? State.WATCH : State.HEALTHY;
      default -> State.HEALTHY;
    };
  }

  /**
   * Returns whether a site with unused memory causes the state ACT. The limit must be reached
   * before a timeout in the program can free the site's memory, and the site must have at least a
   * quarter of the growth.
   */
  private boolean unusedBeforeLimit(SiteVerdict site) {
    double left =
        input.options().get(Setting.LEAK_LONGEST_TIMEOUT).toSeconds()
            - site.suspected().oldestSeconds();
    double perSecond = site.growth().bytesPerHour() / Headline.HOUR;
    return site.grows()
        && limit.lowerSeconds() < left
        && growth
            .filter(
                found -> isWatchedEnough(found) && perSecond >= ACT_SHARE * found.slope().value())
            .isPresent();
  }

  /**
   * Returns whether a site grows, and all growing unused sites together have enough bytes or enough
   * growth for the state WATCH.
   */
  private boolean unusedGrows(SiteVerdict site) {
    double bytes = 0;
    double perSecond = 0;
    for (SiteVerdict one : unacknowledged().toList()) {
      if (one.verdict() == Verdict.UNUSED && one.grows()) {
        bytes += bytes(one);
        perSecond += one.growth().bytesPerHour() / Headline.HOUR;
      }
    }
    return site.grows() && (bytes >= UNUSED_BYTES || perSecond >= UNUSED_PER_SECOND);
  }

  private boolean isLarge(SiteVerdict site) {
    double bytes = bytes(site);
    return bytes > SUSPECT_BYTES || bytes > SUSPECT_SHARE * limit.bytes();
  }

  /**
   * Returns whether a site grows in the table {@link #account}; true if no call sites have been
   * read. The site's verdict is no substitute, because it may rest on a longer time than the table.
   */
  private boolean growsNow(SiteVerdict site) {
    return input.sites().isEmpty()
        || account
            .flatMap(table -> table.row(Kind.SITE, site.site().name()))
            .filter(Row::grows)
            .isPresent();
  }

  static double bytes(SiteVerdict site) {
    double idle = site.suspected().bytes().value();
    return site.verdict() == Verdict.GROWING || Double.isNaN(idle)
        ? site.growth().liveBytes()
        : idle;
  }

  /**
   * Adds a finding for each line of code that holds a pool's buffers longer and longer. The finding
   * does not change the state.
   */
  private void reportHeldBuffers() {
    snapshot.pools().stream()
        .flatMap(report -> report.pools().stream())
        .flatMap(pool -> pool.bufferSites().stream())
        .map(PoolReport.BufferSite::hold)
        .filter(PoolReport.Hold::suspect)
        .forEach(hold -> addFinding("pools", State.HEALTHY, hold.sentence()));
  }

  private void reportGarbage() {
    List<SiteVerdict> listed =
        input.leaks().sites().stream()
            .filter(site -> site.verdict() != Verdict.LEAK)
            .filter(
                site ->
                    site.verdict() == Verdict.WAITS_FOR_GC || garbageBytes(site) >= LISTED_BYTES)
            .sorted(Comparator.comparingDouble(site -> -garbageBytes(site)))
            .limit(MOST_LISTED)
            .toList();
    for (SiteVerdict site : listed) {
      String place = StackFrame.place(site.site().frames(), site.site().name());
      addGarbage(
          site.sentence(), place.isEmpty() ? HumanText.shortName(site.site().name()) : place);
    }
    account.map(Account::positive).orElse(List.of()).stream()
        .filter(row -> row.grows() && row.growthBytes() >= LISTED_BYTES)
        .filter(row -> hasAnswer(row, GarbageAnswer.YOUNG, GarbageAnswer.NOT_YET))
        .filter(row -> listed.stream().noneMatch(one -> one.site().name().equals(row.name())))
        .limit(MOST_LISTED - listed.size())
        .forEach(
            row ->
                addGarbage(
                    "%s grew by %s, %s"
                        .formatted(
                            Headline.place(row),
                            Sentence.bytes(row.growthBytes()),
                            headline.garbage(row)),
                    Headline.place(row)));
  }

  private boolean hasAnswer(Row row, GarbageAnswer... answers) {
    return row.kind() == Kind.SITE
        && List.of(answers).contains(Headline.garbage(input.leaks(), row.name()).answer());
  }

  /**
   * Returns the live bytes of a site that a garbage collection would free. All live bytes count if
   * a young collection frees the site's objects, because it then frees at least 90 % of the bytes.
   */
  private static double garbageBytes(SiteVerdict site) {
    Garbage garbage = site.grounds().garbage();
    return garbage.answer() == GarbageAnswer.YOUNG
        ? site.growth().liveBytes()
        : garbage.bytes().value();
  }

  private void addGarbage(String text, String place) {
    String late =
        limit.usedShare() >= NEAR_THE_LIMIT
            ? ". The limit is near, and a collection may not come in time"
            : "";
    addFinding(
        "garbage",
        State.HEALTHY,
        "%s%s. Close what %s allocates; else set -XX:MaxDirectMemorySize for direct buffers, or a smaller -Xmx%s"
            .formatted(
                text,
                late,
                place,
                Collector.ofThisJvm()
                    .collectsPeriodically(ProcessHandle.current().pid())
                    .map(", or "::concat)
                    .orElse("")));
  }

  // ---- Judging the growth of the total

  private void judgeGrowth() {
    if (growth.isEmpty()) {
      addHealthyOrTooEarly(noGrowthText());
      return;
    }
    ProcessGrowth found = growth.get();
    String text = growthText(found);
    double secondsLeft = total.secondsLeft();
    if (limitWithinHalfAnHour(found)) {
      addFinding("growth", State.ACT, text);
    } else if (!found.isLasting()) {
      addHealthyOrTooEarly(text + "; the growth slows down");
    } else if (secondsLeft >= TotalGrowth.A_DAY.toSeconds()) {
      addHealthyOrTooEarly(text);
    } else if (isForeseeable(found, secondsLeft)) {
      addFinding("growth", State.WATCH, text);
    } else {
      addTooEarly(
          "growth",
          "memory grows %s, watched for %s"
              .formatted(
                  Sentence.rate(found.slope().value()), HumanText.duration(found.watched())));
    }
  }

  /**
   * Adds a finding with the state HEALTHY. The state is TOO_EARLY instead during the start-up, for
   * three minutes after it, and while the readings cannot exclude dangerous growth.
   */
  private void addHealthyOrTooEarly(String text) {
    if (input.run().startedUp().isEmpty()) {
      addTooEarly("growth", "the application is starting");
    } else if (total.watched().compareTo(HEALTHY_WATCH) < 0) {
      addJudgedFrom("growth", "growth", input.run().startedUp().get().plus(HEALTHY_WATCH));
    } else {
      Optional<Double> possible = total.possibleGrowth();
      if (possible.isPresent()) {
        String rate =
            Double.isInfinite(possible.get())
                ? "growth"
                : "growth of " + Sentence.rate(possible.get());
        addTooEarly(
            "growth", rate + " is not excluded after " + HumanText.duration(total.watched()));
      } else {
        addFinding("growth", State.HEALTHY, text);
      }
    }
  }

  /**
   * Returns whether growth was watched for two minutes, or for at least a fifth of the remaining
   * time until the limit.
   */
  private boolean isWatchedEnough(ProcessGrowth found) {
    return found.watched().compareTo(SHORTEST_WATCH) >= 0
        || found.watched().toSeconds() >= limit.seconds() / WARM_UP_FACTOR;
  }

  /** Returns whether growth was watched long enough to be extrapolated over a number of seconds. */
  private boolean isForeseeable(ProcessGrowth found, double seconds) {
    boolean far = found.watched().compareTo(TotalGrowth.LONGEST_WARM_UP) >= 0 || !warmsUp();
    return isWatchedEnough(found)
        && seconds < (far ? EXTRAPOLATED : WARM_UP_FACTOR) * (double) found.watched().toSeconds();
  }

  private Limit foreseeableLimit() {
    return growth
        .filter(found -> limitWithinHalfAnHour(found) || isForeseeable(found, limit.seconds()))
        .map(found -> limit)
        .orElse(snapshot.memory().limit());
  }

  /** Returns whether more than 40 % of the growth is in memory that grows in every warm-up. */
  private boolean warmsUp() {
    double all = 0;
    double warming = 0;
    for (Row row : account.map(Account::positive).orElse(List.of())) {
      if (!total.bounded().contains(row.kind())) {
        boolean library =
            (row.kind() == Kind.SITE || row.kind() == Kind.POOL) && row.place().isEmpty();
        all += row.growthBytes();
        warming += library || WARM_UP_KINDS.contains(row.kind()) ? row.growthBytes() : 0;
      }
    }
    return warming > (1 - Headline.EXPLAINED) * all;
  }

  private boolean limitWithinHalfAnHour(ProcessGrowth found) {
    return isWatchedEnough(found)
        && found.isSteady()
        && found.isRecent()
        && limit.upperSeconds() < timeToAct().toSeconds();
  }

  /**
   * Returns 30 minutes, or 45 minutes if the state is ACT already. Growth that would reach the
   * memory limit within this time can lead to the state ACT.
   */
  private Duration timeToAct() {
    return input.latest().state() == State.ACT ? NEAR_WHILE_ACT : NEAR;
  }

  private String growthText(ProcessGrowth found) {
    Slope slope = found.slope();
    String lower = Sentence.bytes(slope.lower() * Sentence.secondsOfRate(slope.value()));
    String upper = Sentence.bytes(slope.upper() * Sentence.secondsOfRate(slope.value()));
    return "Memory grows %s%s since %s"
        .formatted(
            Sentence.rate(slope.value()),
            lower.equals(upper) ? "" : " (%s to %s)".formatted(lower, upper),
            HumanText.minute(found.since()));
  }

  private void judgeGrowingRows() {
    certainRows().stream()
        .findFirst()
        .ifPresent(
            row ->
                addFinding(
                    "growth",
                    State.WATCH,
                    "%s grew by %s in %s"
                        .formatted(
                            Headline.place(row),
                            Sentence.bytes(row.growthBytes()),
                            HumanText.duration(length(longAccount.get())))));
  }

  /**
   * Returns the rows that cause the state WATCH, because their growth is certain and large. Stacks
   * are judged by the number of threads instead. Metaspace counts only if the number of classes
   * grows, too.
   */
  private List<Row> certainRows() {
    double least =
        Math.max(
            CERTAIN_BYTES,
            CERTAIN_SHARE * longAccount.map(table -> table.total().bytes()).orElse(Double.NaN));
    return longAccount
        .filter(DiagnosisRules::isLong)
        .map(Account::positive)
        .orElse(List.of())
        .stream()
        .filter(
            row ->
                switch (row.kind()) {
                  case SITE, POOL, MAPPED, TMPFS, SHARED, COPIES, ANONYMOUS, OTHERS ->
                      row.grows() && isCertain(row, least) && !hasAnswer(row, GarbageAnswer.YOUNG);
                  case STACKS -> countGrows(Count.THREADS, MANY_THREADS, 0);
                  case METASPACE ->
                      row.grows()
                          && countGrows(Count.CLASSES, MANY_CLASSES, MANY_CLASSES_PER_MINUTE);
                  default -> false;
                })
        .toList();
  }

  /**
   * Returns whether a row grew by at least {@code least} bytes, and the lower bound of its growth
   * is at least half of {@code least}.
   */
  private static boolean isCertain(Row row, double least) {
    double low = row.growthBytes() * row.lowerPerSecond() / row.bytesPerSecond();
    return row.growthBytes() >= least && low >= HALF * least;
  }

  private static boolean isLong(Account table) {
    return length(table).compareTo(SHORTEST_WATCH) >= 0;
  }

  private static Duration length(Account table) {
    return Duration.between(table.from(), table.to());
  }

  private boolean countGrows(String count, double least, double leastPerMinute) {
    return longAccount
        .flatMap(table -> table.count(count))
        .filter(found -> found.steady() && found.growth() >= least)
        .filter(found -> found.perMinute() >= leastPerMinute)
        .isPresent();
  }

  // ---- Judging the used share of the limit

  private void judgeLimit() {
    if (Double.isNaN(limit.usedShare())) {
      addFinding("limit", State.HEALTHY, "No memory limit is known");
      return;
    }
    String text = "%s of the %s is used".formatted(HumanText.share(limit.usedShare()), limitText());
    boolean heap = heapBytes() >= MOST_SHARE * limit.usedBytes();
    String whole = text + (heap ? ", most of it by the Java heap" : "");
    boolean byThisProcess =
        !limit.source().equals(Limit.MACHINE)
            || snapshot.memory().residentUsedBytes() >= limit.usedBytes() / 2;
    if (limit.usedShare() >= AT_THE_LIMIT) {
      String by = byThisProcess ? whole : whole + ", most of it by other processes";
      addFinding("limit", heap || !byThisProcess ? State.WATCH : State.ACT, by);
    } else if (limit.usedShare() >= NEAR_THE_LIMIT && !heap) {
      addFinding("limit", State.WATCH, whole);
    } else {
      addFinding("limit", State.HEALTHY, whole);
    }
    heapThatDoesNotFit();
  }

  /**
   * Adds a finding if at least two thirds of the limit are used, and the Java heap may still grow
   * by more than the unused part of the limit.
   */
  private void heapThatDoesNotFit() {
    double room = Math.max(0, limit.bytes() - limit.usedBytes());
    if (limit.source().equals(Limit.MACHINE) || limit.usedShare() < MOST_SHARE) {
      return;
    }
    account
        .flatMap(table -> table.row(Kind.HEAP, Kind.HEAP.words()))
        .filter(row -> row.maximumBytes() - row.bytes() > room)
        .ifPresent(
            row ->
                addFinding(
                    HEAP,
                    State.WATCH,
                    "The Java heap may grow by %s, and the %s leaves %s"
                        .formatted(
                            Sentence.bytes(row.maximumBytes() - row.bytes()),
                            limitText(),
                            Sentence.bytes(room))));
  }

  private String limitText() {
    if (Double.isNaN(limit.bytes())) {
      return "limit";
    }
    return (limit.source().equals(Limit.MACHINE) ? "machine's " : "limit of ")
        + Sentence.bytes(limit.bytes());
  }

  private double heapBytes() {
    return part(ResidentPart.JAVA_HEAP).orElse(0.0);
  }

  // ---- Judging how the previous run ended

  private void judgePreviousRun() {
    input
        .run()
        .previous()
        .filter(run -> run.reason().equals(PreviousRun.OOM))
        .ifPresent(
            run -> {
              Duration since = Duration.between(run.ended(), snapshot.time());
              Duration alive = Duration.between(input.run().started(), snapshot.time());
              Duration lived = Duration.between(run.started(), run.ended());
              boolean outlived = alive.compareTo(lived.multipliedBy(2)) > 0;
              State requested =
                  since.compareTo(TotalGrowth.A_DAY) < 0 && !outlived ? State.WATCH : State.HEALTHY;
              boolean first = state.compareTo(State.WATCH) <= 0;
              addFinding("previous", requested, run.sentence());
              // The sentence on the previous run's OOM kill becomes the sentence of the diagnosis,
              // unless another finding has the state ACT.
              if (requested == State.WATCH && first) {
                sentence = Headline.join("", "; ", List.of(run.sentence().split("; ")));
                named = List.of();
              }
              findings.add(0, findings.remove(findings.size() - 1));
            });
  }

  // ---- Reporting findings that do not change the state

  private void reportCounting() {
    if (!snapshot.status().active()) {
      addFinding(
          "counting",
          State.HEALTHY,
          "Native allocations are not counted: " + snapshot.status().reason());
      return;
    }
    String gaps = snapshot.self().attachment().map(Attachment::gaps).orElse("");
    if (!gaps.isEmpty()) {
      addFinding("counting", State.HEALTHY, "Not every native allocation is counted: " + gaps);
    }
  }

  private void reportMissedSamples() {
    if (missedShare() >= MISSED_SHARE) {
      addFinding(
          "missed",
          State.HEALTHY,
          capitalized(missedSamplesText())
              + ", because the table of call sites is full: a leak there has no name");
    }
  }

  private double missedShare() {
    SelfReport.Sampling sampling = snapshot.self().sampling();
    double noSite = sampling.missed().noSite();
    return noSite > 0 ? noSite / sampling.samples() : 0;
  }

  private String missedSamplesText() {
    return HumanText.share(missedShare()) + " of the samples have no call site";
  }

  private void reportCompilation() {
    List<SiteTrends.Group> compilations =
        input.sites().map(SiteTrends::groups).orElse(List.of()).stream()
            .filter(group -> group.figures().key().startsWith(StackFrame.COMPILATION))
            .sorted(Comparator.comparingDouble(DiagnosisRules::liveBytes).reversed())
            .toList();
    double bytes = compilations.stream().mapToDouble(DiagnosisRules::liveBytes).sum();
    if (bytes < COMPILATION_BYTES) {
      return;
    }
    SiteTrends.Group largest = compilations.get(0);
    addFinding(
        "compilation",
        State.HEALTHY,
        "The JVM's compiler holds %s, %s of it to compile %s; %s stops that, and the method then runs interpreted"
            .formatted(
                Sentence.bytes(bytes),
                liveBytes(largest) > bytes / 2 ? "most" : "the largest part",
                HumanText.shortName(
                    largest.figures().key().substring(StackFrame.COMPILATION.length())),
                exclusion(largest)));
  }

  /**
   * Returns the option that excludes a method from compilation, quoted for a shell. Takes the
   * method from a stack, because the group's name may be shortened.
   */
  private static String exclusion(SiteTrends.Group compilation) {
    String method =
        compilation.largest().stream()
            .flatMap(site -> site.frames().stream().limit(1))
            .filter(frame -> frame.kind() == StackFrame.Kind.COMPILED)
            .map(frame -> frame.owner() + "::" + frame.name())
            .findFirst()
            .orElse("");
    if (method.isEmpty()) {
      String name = compilation.figures().key().substring(StackFrame.COMPILATION.length());
      method = name.replaceFirst("\\.(?=[^.]*$)", "::");
    }
    String option = "-XX:CompileCommand=exclude," + method;
    return SHELL_SIGNS.matcher(option).find() ? "'" + option + "'" : option;
  }

  private void reportClassLoaders() {
    input
        .run()
        .loaders()
        .filter(loaders -> classesGrow(account))
        .ifPresent(
            loaders ->
                addFinding(
                    "classes",
                    State.HEALTHY,
                    "%s, at %s"
                        .formatted(
                            loaders.sentence().substring(0, loaders.sentence().length() - 1),
                            HumanText.minute(loaders.time()))));
  }

  public static boolean classesGrow(Optional<Account> account) {
    return account
        .flatMap(table -> table.count(Count.CLASSES))
        .filter(classes -> classes.steady() && classes.growth() >= MANY_CLASSES)
        .isPresent();
  }

  private static double liveBytes(SiteTrends.Group group) {
    return group.figures().liveBytes().value();
  }

  private void reportRetained() {
    Optional<AllocatorStatistics> allocator = snapshot.allocator();
    if (allocator.isPresent()) {
      double bytes = part(ResidentPart.MALLOC_RETAINED).orElse(allocator.get().retainedBytes());
      String advice =
          allocator.get().advice().isEmpty() ? "" : ": " + allocator.get().advice().get(0).reason();
      addFinding(
          "retained",
          State.HEALTHY,
          "The allocator retains %s%s".formatted(HumanText.bytes(bytes), advice));
    }
  }

  private void reportBudget() {
    snapshot
        .memory()
        .budget()
        .filter(budget -> !Double.isNaN(budget.limitBytes()))
        .ifPresent(budget -> addFinding("budget", State.HEALTHY, capitalized(budget.verdict())));
  }

  private void reportUnexplained() {
    Optional<ResidentMemory> split = snapshot.memory().resident();
    long mapped =
        split.flatMap(ResidentMemory::mapped).orElse(List.of()).stream()
            .mapToLong(ResidentMemory.Mapped::bytes)
            .sum();
    part(ResidentPart.UNEXPLAINED)
        .map(bytes -> bytes - mapped)
        .filter(bytes -> bytes >= UNEXPLAINED_BYTES)
        .filter(bytes -> bytes >= UNEXPLAINED_SHARE * split.orElseThrow().totalBytes())
        .ifPresent(
            bytes ->
                addFinding(
                    "unexplained",
                    State.HEALTHY,
                    HumanText.bytes(bytes) + " of the resident set is unexplained"));
  }

  private void reportAccount() {
    account.ifPresent(
        table ->
            addFinding(
                "account",
                State.HEALTHY,
                "%s memory changed by %s in %s: %s"
                    .formatted(
                        capitalized(table.basis()),
                        HumanText.change(table.total().growthBytes()),
                        HumanText.duration(length(table)),
                        String.join(
                            ", ",
                            table.rows().stream()
                                .filter(row -> Math.abs(row.growthBytes()) >= LISTED_BYTES)
                                .limit(MOST_LISTED)
                                .map(this::changeOf)
                                .toList()))));
  }

  private String changeOf(Row row) {
    String change = nameOf(row) + " " + HumanText.change(row.growthBytes());
    String garbage = row.kind() == Kind.SITE && row.growthBytes() > 0 ? headline.garbage(row) : "";
    return garbage.isEmpty() ? change : "%s (%s)".formatted(change, garbage);
  }

  private static String nameOf(Row row) {
    return row.kind() == Kind.MAPPED
        ? "mapped by " + Headline.place(row)
        : HumanText.shortName(row.name());
  }

  private Optional<String> filePagesText() {
    return account.map(Account::files).orElse(List.of()).stream()
        .filter(file -> file.growthBytes() >= FILE_BYTES)
        .findFirst()
        .map(
            file ->
                "pages of %s grew by %s"
                    .formatted(counted(file.name()), Sentence.bytes(file.growthBytes())));
  }

  /**
   * Returns the number of files, such as {@code 3 deleted files}, if {@code files} is {@link
   * Count#DELETED_FILES}. Returns any other name unchanged.
   */
  private String counted(String files) {
    return Optional.of(files)
        .filter(Count.DELETED_FILES::equals)
        .flatMap(name -> account.flatMap(table -> table.count(name)))
        .map(
            count ->
                count.count() == 1 ? "a deleted file" : "%.0f %s".formatted(count.count(), files))
        .orElse(files);
  }

  // ---- Adding findings and composing texts

  private Optional<Double> part(ResidentPart part) {
    return snapshot.memory().resident().flatMap(split -> split.of(part)).map(Long::doubleValue);
  }

  private void addJudgedFrom(String topic, String subject, Instant due) {
    undecided.put(subject, due);
    addFinding(topic, State.TOO_EARLY, capitalized(subject) + CAN_BE_JUDGED + atTheLatest(due));
  }

  private void addTooEarly(String topic, String what) {
    waitReasons.add(what);
    addFinding(topic, State.TOO_EARLY, capitalized(what));
  }

  /**
   * Adds a finding. A finding that is graver than all before it also sets {@link #sentence}, the
   * sentence of the diagnosis:
   *
   * <ul>
   *   <li>In the states WATCH and ACT, {@code sentence} becomes the sentence of {@link #headline}.
   *   <li>In other states, and for the {@link #LIMIT_TOPICS}, {@code sentence} becomes {@code
   *       text}. With the topic {@code limit}, the sentence of {@link #headline} follows {@code
   *       text}.
   * </ul>
   */
  private void addFinding(String topic, State requested, String text) {
    findings.add(new Finding(topic, requested, text));
    if (requested.compareTo(state) > 0) {
      state = requested;
      sentence = text;
      named = List.of();
      if (requested.compareTo(State.TOO_EARLY) > 0 && !LIMIT_TOPICS.contains(topic)) {
        sentence = headline.sentence();
        named = headline.named();
      } else if (topic.equals("limit") && !headline.named().isEmpty()) {
        sentence =
            Headline.join("", ". ", List.of(text, Headline.withoutForecast(headline.sentence())));
        named = sentence.equals(text) ? List.of() : headline.named();
      }
    }
  }

  static String uncapitalized(String text) {
    return text.length() > 1 && Character.isUpperCase(text.charAt(1))
        ? text
        : Character.toLowerCase(text.charAt(0)) + text.substring(1);
  }

  /** Returns a time rounded up to the minute. */
  private static String atTheLatest(Instant due) {
    return HumanText.minute(due.plusSeconds(59));
  }

  static String capitalized(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
