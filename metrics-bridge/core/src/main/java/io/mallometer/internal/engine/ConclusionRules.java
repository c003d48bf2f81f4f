package io.mallometer.internal.engine;

import io.mallometer.internal.leak.Sentence;
import io.mallometer.internal.leak.Trend.Slope;
import io.mallometer.internal.text.Words;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Conclusion;
import io.mallometer.model.Conclusion.Finding;
import io.mallometer.model.Conclusion.Limit;
import io.mallometer.model.Conclusion.State;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.Observation;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
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
 * Draws the conclusion. Each rule looks at one thing and leaves one finding with the state that it
 * asks for. The gravest finding gives the sentence; of several that are equally grave the first.
 */
final class ConclusionRules {

  /**
   * What is known.
   *
   * @param history the last hour, oldest first
   * @param moments where the memory was in the last hour, oldest first
   * @param leaks the latest verdicts
   * @param options how leaks are looked for
   * @param previous the previous run; empty if none is recorded
   * @param started when the process started
   * @param startedUp when the application had started; empty while it starts
   */
  record Known(
      Snapshot snapshot,
      List<HistoryPoint> history,
      List<MemoryMoment> moments,
      LeakReport leaks,
      MallometerOptions options,
      Optional<PreviousRun> previous,
      Instant started,
      Optional<Instant> startedUp) {}

  /** From here on the kernel's next reclaim may fail. */
  private static final double AT_THE_LIMIT = 0.95;

  private static final double NEAR_THE_LIMIT = 0.9;

  /** The heap explains the use of the limit if it is such a share of what is used. */
  private static final double MOSTLY = 2 / 3.0;

  private static final Duration NEAR = Duration.ofMinutes(30);
  private static final Duration A_DAY = Duration.ofDays(1);

  /** So long growth is watched before it is extrapolated to a limit that is near. */
  private static final Duration SURE = Duration.ofMinutes(2);

  /** Growth is extrapolated to so many times the time that it was watched: an hour to a day. */
  private static final int EXTRAPOLATED = 24;

  /** So long a process that does not grow is watched before it is healthy. */
  private static final Duration WATCHED = Duration.ofMinutes(3);

  /** So long use is observed before the absence of unused memory says anything. */
  private static final Duration OBSERVED = Duration.ofMinutes(5);

  private static final double SUSPECT_SHARE = 0.05;
  private static final double SUSPECT_BYTES = 64 << 20;

  private static final double UNEXPLAINED_SHARE = 0.05;
  private static final double UNEXPLAINED_BYTES = 32 << 20;

  /** From here on the samples without a call site can hide one that leaks. */
  private static final double MISSED_SHARE = 0.1;

  private static final double MINUTE = 60;
  private static final double HOUR = 3_600;

  private final Known known;
  private final Snapshot snapshot;
  private final ToDoubleFunction<HistoryPoint> figure;
  private final Optional<ProcessGrowth> growth;
  private final Limit limit;
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> waits = new ArrayList<>();

  /** Of the finding that gives the sentence. */
  private String sentence = "";

  private State state = State.HEALTHY;

  private ConclusionRules(Known known) {
    this.known = known;
    this.snapshot = known.snapshot();
    this.figure = figure(known);
    this.growth = known.startedUp().flatMap(end -> ProcessGrowth.of(known.history(), figure, end));
    this.limit =
        growth.filter(ProcessGrowth::goesOn).map(this::reached).orElse(snapshot.memory().limit());
  }

  /** Returns the conclusion, since the snapshot's time. */
  static Conclusion conclusion(Known known) {
    ConclusionRules rules = new ConclusionRules(known);
    rules.leaks();
    rules.growth();
    rules.limit();
    rules.previous();
    rules.counting();
    rules.missed();
    rules.retained();
    rules.budget();
    rules.unexplained();
    return rules.concluded();
  }

  /** Returns what grows: that which the limit is compared with, or without it what is known. */
  private static ToDoubleFunction<HistoryPoint> figure(Known known) {
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

  private Conclusion concluded() {
    findings.sort(Comparator.comparing(Finding::state).reversed());
    return new Conclusion(
        state,
        snapshot.time(),
        switch (state) {
          case HEALTHY -> healthy();
          case TOO_EARLY -> "Too early to tell: " + String.join(", ", waits);
          default -> sentence;
        },
        actions(),
        limit,
        known.previous(),
        findings);
  }

  private String healthy() {
    String grows = growth.map(found -> grows(found) + far(found)).orElseGet(this::growsNot);
    String room =
        Double.isNaN(limit.usedShare())
            ? ""
            : "; %s of the %s is used".formatted(Words.share(limit.usedShare()), ofBytes());
    String use =
        observed().compareTo(OBSERVED) < 0
            ? ""
            : "; " + small().orElse("no call site grows with unused objects");
    String blind = missedShare() < MISSED_SHARE ? "" : "; " + missedText();
    return grows
        + room
        + (use.isEmpty() && !snapshot.status().active() ? uncounted() : use)
        + blind;
  }

  private String far(ProcessGrowth found) {
    Duration left = heapAlone(found) ? Duration.ZERO : seconds(limit.seconds());
    return heapAlone(found)
        ? ", mostly the Java heap on its way to its maximum"
        : left.isZero() ? "" : ", the limit is " + Words.roughly(left) + " away";
  }

  private String uncounted() {
    return "; native allocations are not counted";
  }

  private List<String> actions() {
    List<String> actions = new ArrayList<>();
    if (state == State.ACT) {
      actions.add("Save the evidence");
      if (limit.upperSeconds() < NEAR.toSeconds()) {
        actions.add("Restart before " + at(limit.lowerSeconds()));
      }
    }
    if (state.compareTo(State.TOO_EARLY) > 0) {
      actions.add("Open the runbook: docs/runbooks/" + runbook() + ".md");
    }
    return actions;
  }

  private String runbook() {
    return switch (findings.get(0).topic()) {
      case "leaks" ->
          switch (suspects().get(0).verdict()) {
            case LEAK -> "leak-suspected";
            case UNUSED -> "unused-grows";
            default -> "reaches-limit";
          };
      case "previous" -> "after-a-kill";
      case "growth" -> "reaches-limit";
      default -> "near-limit";
    };
  }

  // ---- Suspects

  private void leaks() {
    if (!snapshot.status().active()) {
      return;
    }
    List<SiteVerdict> suspects = suspects();
    if (suspects.isEmpty()) {
      noSuspect();
      return;
    }
    SiteVerdict worst = suspects.get(0);
    State asked = asked(worst);
    String inShort =
        worst.verdict() == Verdict.LEAK
            ? leaking(worst, name(worst))
            : asked == State.ACT ? undecided(worst, name(worst)) : worst.sentence();
    found("leaks", asked, inShort + others(suspects.size() - 1), worst.sentence());
  }

  private void noSuspect() {
    LeakReport leaks = known.leaks();
    String why = leaks.reason().isEmpty() ? leaks.observation().reason() : leaks.reason();
    if (!why.isEmpty()) {
      found("leaks", State.HEALTHY, "", "Accesses to objects are not observed: " + why);
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
          "",
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
    double bytes =
        small.stream()
            .filter(site -> !site.acknowledged())
            .mapToDouble(ConclusionRules::bytes)
            .sum();
    return small.isEmpty()
        ? Optional.empty()
        : Optional.of(
            bytes > 0
                ? "suspects hold %s in all".formatted(Sentence.bytes(bytes))
                : "all suspects are acknowledged");
  }

  private Duration observed() {
    Observation seen = known.leaks().observation();
    long nanos = seen.hasSeen() ? seen.epochEndNanos() - seen.startedNanos() : 0;
    return Duration.ofNanos((long) (nanos * known.options().get(Setting.LEAK_TIME_SCALE)));
  }

  /** Returns the suspects that ask for a state, the gravest first, of these what grows fastest. */
  private List<SiteVerdict> suspects() {
    return known.leaks().suspicious().stream()
        .filter(site -> !site.acknowledged() && asked(site) != State.HEALTHY)
        .sorted(
            Comparator.comparing(this::asked)
                .reversed()
                .thenComparing(site -> site.verdict() != Verdict.LEAK)
                .thenComparingDouble(site -> -Math.max(0, site.growth().bytesPerHour()))
                .thenComparingDouble(site -> -bytes(site)))
        .toList();
  }

  private State asked(SiteVerdict site) {
    boolean grows = site.grows();
    return switch (site.verdict()) {
      case LEAK -> grows ? State.ACT : State.WATCH;
      case UNUSED ->
          grows && limitComesFirst(site) ? State.ACT : isLarge(site) ? State.WATCH : State.HEALTHY;
      case GROWING -> isLarge(site) ? State.WATCH : State.HEALTHY;
      default -> State.HEALTHY;
    };
  }

  /** Whether the limit comes before the longest timeout could free anything. */
  private boolean limitComesFirst(SiteVerdict site) {
    double left =
        known.options().get(Setting.LEAK_LONGEST_TIMEOUT).toSeconds()
            - site.suspected().oldestSeconds();
    return limit.lowerSeconds() < left;
  }

  private boolean isLarge(SiteVerdict site) {
    double bytes = bytes(site);
    return bytes > SUSPECT_BYTES || bytes > SUSPECT_SHARE * limit.bytes();
  }

  private static double bytes(SiteVerdict site) {
    double idle = site.suspected().bytes().value();
    return site.verdict() == Verdict.GROWING || Double.isNaN(idle)
        ? site.growth().liveBytes()
        : idle;
  }

  private String leaking(SiteVerdict leak, String text) {
    double perHour = leak.growth().bytesPerHour();
    return perHour > 0
        ? "%s leaks %s, %s%s".formatted(text, rate(perHour / HOUR), leaked(leak), reaching())
        : "%s leaked: %s; %s"
            .formatted(
                text,
                leaked(leak),
                leak.growth()
                    .stopped()
                    .map(since -> "it has not grown since " + Words.minute(since))
                    .orElse("whether it grows is not known yet"));
  }

  /**
   * Returns the amount of a leak in words: all lost bytes, or the bytes of idle objects that are
   * older than the threshold.
   */
  private static String leaked(SiteVerdict leak) {
    String amount = Sentence.bytes(bytes(leak));
    return leak.grounds().evidence() == LeakEvidence.LOST
        ? amount + " lost so far"
        : "%s not accessed for %s or more"
            .formatted(amount, Sentence.atLeast(leak.suspected().idleSeconds()));
  }

  private String undecided(SiteVerdict site, String text) {
    return "%s grows %s and is not used; too early to tell whether it is a leak or a store too large for its limit%s"
        .formatted(text, rate(site.growth().bytesPerHour() / HOUR), reaching());
  }

  private static String others(int count) {
    return count == 0 ? "" : "; %d more %s".formatted(count, count == 1 ? "suspect" : "suspects");
  }

  /** Returns the site's name with the application's line, where its stack has it. */
  private static String name(SiteVerdict site) {
    String name = site.site().name();
    for (StackFrame frame : site.site().frames()) {
      if (frame.kind() == StackFrame.Kind.JAVA && frame.function().equals(name)) {
        String place = frame.toString().substring(name.length());
        return Words.shortName(name) + (place.isEmpty() ? "" : " " + place);
      }
    }
    return Words.shortName(name);
  }

  // ---- Growth

  private void growth() {
    if (growth.isEmpty()) {
      healthyOrTooEarly(growsNot());
      return;
    }
    ProcessGrowth found = growth.get();
    Optional<SiteVerdict> site = mostly(found);
    String text = grows(found) + site.map(most -> ", mostly " + name(most)).orElse(part(found));
    if (isNear(found)) {
      boolean undecided = site.isPresent() && site.get().verdict() != Verdict.LEAK;
      String leak = undecided ? "; too early to say whether it is a leak" : "";
      found("growth", State.ACT, text + leak + reaching(), text);
    } else if (!found.goesOn()) {
      healthyOrTooEarly(text + "; the growth slows down");
    } else if (secondsLeft(found) >= A_DAY.toSeconds()) {
      healthyOrTooEarly(text);
    } else if (secondsLeft(found) < EXTRAPOLATED * (double) found.watched().toSeconds()) {
      found("growth", State.WATCH, text + reaching(), text);
    } else {
      tooEarly(
          "growth", lower(text) + ", watched for " + Words.duration(found.watched()) + " so far");
    }
  }

  /** Nothing of growth has to be looked at, once memory was watched for long enough. */
  private void healthyOrTooEarly(String text) {
    if (known.startedUp().isEmpty()) {
      tooEarly("growth", "the application is starting");
    } else if (watched().compareTo(WATCHED) < 0) {
      tooEarly(
          "growth",
          growthShows().isAfter(snapshot.time())
              ? "growth can be judged from " + atTheLatest(growthShows())
              : "watched for " + Words.duration(watched()));
    } else {
      found("growth", State.HEALTHY, "", text);
    }
  }

  private Instant growthShows() {
    return known.startedUp().orElseThrow().plus(WATCHED);
  }

  private String growsNot() {
    return "Memory shows no steady growth in " + Words.duration(watched());
  }

  private Duration watched() {
    List<HistoryPoint> points =
        known.history().stream()
            .filter(point -> !point.time().isBefore(known.startedUp().orElse(Instant.MAX)))
            .filter(point -> !Double.isNaN(figure.applyAsDouble(point)))
            .toList();
    return ProcessGrowth.watched(points, A_DAY);
  }

  private boolean isNear(ProcessGrowth found) {
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
    return "Memory grows %s (%s to %s) since %s"
        .formatted(
            rate(slope.value()),
            Sentence.bytes(slope.lower() * unit(slope.value())),
            Sentence.bytes(slope.upper() * unit(slope.value())),
            Words.minute(found.since()));
  }

  private static double unit(double perSecond) {
    return perSecond * MINUTE >= 1 << 20 ? MINUTE : HOUR;
  }

  private static String rate(double perSecond) {
    return "+%s/%s"
        .formatted(
            Sentence.bytes(perSecond * unit(perSecond)), unit(perSecond) == MINUTE ? "min" : "h");
  }

  /** Returns the suspect that makes up at least half of the growth. */
  private Optional<SiteVerdict> mostly(ProcessGrowth found) {
    return known.leaks().suspicious().stream()
        .filter(site -> !site.acknowledged())
        .filter(site -> site.growth().bytesPerHour() / HOUR >= found.slope().value() / 2)
        .max(Comparator.comparingDouble(site -> site.growth().bytesPerHour()));
  }

  /**
   * Returns in words the part of the resident set that makes up at least half of the growth. Pages
   * of files do not count as growth.
   */
  private String part(ProcessGrowth found) {
    return Stream.of(ResidentPart.values())
        .filter(part -> part != ResidentPart.MAPPED_FILES)
        .filter(part -> perSecond(part, found) >= found.slope().value() / 2)
        .findFirst()
        .map(
            part ->
                part == ResidentPart.JAVA_HEAP
                    ? ", mostly the Java heap"
                    : ", mostly " + part.tag() + "; cause not known yet")
        .orElse("; cause not known yet");
  }

  /** Returns by how many bytes a second a part grew in the window of a growth. */
  private double perSecond(ResidentPart part, ProcessGrowth found) {
    List<MemoryMoment> within =
        known.moments().stream()
            .filter(moment -> !moment.time().isBefore(found.since()))
            .filter(moment -> moment.resident().containsKey(part))
            .toList();
    if (within.size() < 2) {
      return 0;
    }
    MemoryMoment first = within.get(0);
    MemoryMoment last = within.get(within.size() - 1);
    double seconds = Duration.between(first.time(), last.time()).toNanos() / 1e9;
    return (last.resident().get(part) - first.resident().get(part)) / seconds;
  }

  // ---- The limit

  private void limit() {
    if (Double.isNaN(limit.usedShare())) {
      found("limit", State.HEALTHY, "", "No memory limit is known");
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
      found("limit", heap || !own ? State.WATCH : State.ACT, by, by);
    } else if (limit.usedShare() >= NEAR_THE_LIMIT && !heap) {
      found("limit", State.WATCH, whole, whole);
    } else {
      found("limit", State.HEALTHY, "", whole);
    }
  }

  private String ofBytes() {
    if (Double.isNaN(limit.bytes())) {
      return "limit";
    }
    return (limit.source().equals(Limit.MACHINE) ? "machine's " : "limit of ")
        + Sentence.bytes(limit.bytes());
  }

  /** The Java heap grows to its maximum and no further. */
  private Limit reached(ProcessGrowth found) {
    Slope slope = found.slope();
    return snapshot
        .memory()
        .limit()
        .reachedIn(
            secondsToLimit(slope.upper(), found),
            secondsToLimit(slope.value(), found),
            secondsToLimit(slope.lower(), found));
  }

  private double secondsToLimit(double perSecond, ProcessGrowth found) {
    Limit reading = snapshot.memory().limit();
    double room = Math.max(0, reading.bytes() - reading.usedBytes());
    double heap = Math.min(perSecond, Math.max(0, perSecond(ResidentPart.JAVA_HEAP, found)));
    double heapRoom = heapRoom();
    double together = room / perSecond;
    if (heap == 0 || heap * together <= heapRoom) {
      return together;
    }
    return (room - heapRoom) / (perSecond - heap);
  }

  private boolean heapAlone(ProcessGrowth found) {
    return perSecond(ResidentPart.JAVA_HEAP, found) >= found.slope().value() / 2;
  }

  private double heapRoom() {
    return snapshot
        .memory()
        .budget()
        .flatMap(
            budget ->
                budget.lines().stream().filter(line -> line.item().equals("java-heap")).findFirst())
        .map(MemoryBudget.Line::bytes)
        .map(most -> Math.max(0, most - heapBytes()))
        .orElse(Double.POSITIVE_INFINITY);
  }

  private double heapBytes() {
    return part(ResidentPart.JAVA_HEAP).orElse(0.0);
  }

  /**
   * Returns in words when the process's growth reaches the limit; empty if that takes 60 days or
   * more.
   */
  private String reaching() {
    double seconds = limit.seconds();
    if (!(seconds < Duration.ofDays(60).toSeconds())) {
      return "";
    }
    if (seconds > 2 * HOUR) {
      return "; %s in %s".formatted(ofBytes(), Words.roughly(seconds(seconds)));
    }
    String soonest = at(limit.lowerSeconds());
    String latest =
        limit.upperSeconds() < A_DAY.toSeconds() ? "to " + at(limit.upperSeconds()) : "or later";
    return "; %s at %s%s"
        .formatted(
            ofBytes(),
            at(seconds),
            latest.equals("to " + soonest)
                ? ""
                : " (%s %s)".formatted(soonest.replace(" UTC", ""), latest));
  }

  private String at(double seconds) {
    return Words.minute(snapshot.time().plus(seconds(seconds)));
  }

  private static Duration seconds(double seconds) {
    return seconds < Duration.ofDays(3_650).toSeconds()
        ? Duration.ofSeconds((long) seconds)
        : Duration.ZERO;
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
              // Before whatever else is to be watched.
              if (asked == State.WATCH && state == State.WATCH) {
                sentence = run.sentence();
              }
              found("previous", asked, run.sentence(), run.sentence());
              findings.add(0, findings.remove(findings.size() - 1));
            });
  }

  // ---- Reasons that ask for nothing

  private void counting() {
    if (!snapshot.status().active()) {
      found(
          "counting",
          State.HEALTHY,
          "",
          "Native allocations are not counted: " + snapshot.status().reason());
      return;
    }
    String gaps = snapshot.self().attachment().map(Attachment::gaps).orElse("");
    if (!gaps.isEmpty()) {
      found("counting", State.HEALTHY, "", "Not every native allocation is counted: " + gaps);
    }
  }

  /** A table that is full hides the call sites that come later. */
  private void missed() {
    if (missedShare() >= MISSED_SHARE) {
      found("missed", State.HEALTHY, "", capital(missedText()) + ": a leak there has no name");
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
          "",
          "The allocator retains %s%s".formatted(Words.bytes(bytes), advice));
    }
  }

  private void budget() {
    snapshot
        .memory()
        .budget()
        .filter(budget -> !Double.isNaN(budget.limitBytes()))
        .ifPresent(budget -> found("budget", State.HEALTHY, "", capital(budget.verdict())));
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
                    "",
                    Words.bytes(bytes) + " of the resident set is unexplained"));
  }

  // ---- What they share

  private Optional<Double> part(ResidentPart part) {
    return snapshot.memory().resident().flatMap(split -> split.of(part)).map(Long::doubleValue);
  }

  private void tooEarly(String topic, String what) {
    waits.add(what);
    found(topic, State.TOO_EARLY, "", capital(what));
  }

  private void found(String topic, State asked, String inShort, String text) {
    findings.add(new Finding(topic, asked, text));
    if (asked.compareTo(state) > 0) {
      state = asked;
      sentence = inShort;
    }
  }

  private static String lower(String text) {
    return Character.toLowerCase(text.charAt(0)) + text.substring(1);
  }

  /** To the minute, rounded up. */
  private static String atTheLatest(Instant due) {
    return Words.minute(due.plusSeconds(59));
  }

  private static String capital(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
