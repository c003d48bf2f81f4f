package io.mallometer.internal.engine;

import io.mallometer.internal.text.Words;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Finding;
import io.mallometer.model.Diagnosis.Severity;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Observation;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Says how it stands with native memory.
 *
 * <p>Each rule looks at one thing and leaves one finding. The gravest finding gives the sentence;
 * of several that are equally grave the first, in the order in which an engineer would ask: is it
 * about to be killed, does it leak, does it grow, is memory kept unused, does the limit fit at all.
 */
public final class DiagnosisRules {

  /** From here on the kernel's next reclaim may fail. */
  private static final double AT_THE_LIMIT = 0.95;

  private static final double NEAR_THE_LIMIT = 0.85;

  /** A limit that is reached within a day is somebody's business today. */
  private static final Duration SOON = Duration.ofHours(24);

  /** What is farther away is not foretold. */
  private static final Duration FAR = Duration.ofDays(60);

  private static final double UNEXPLAINED_SHARE = 0.05;
  private static final double UNEXPLAINED_BYTES = 32 << 20;

  private final Snapshot snapshot;
  private final Optional<ProcessTrend> trend;
  private final LeakReport leaks;
  private final Duration leastObservation;
  private final List<Finding> findings = new ArrayList<>();

  /** Of the finding that gives the sentence. */
  private String sentence = "";

  private Severity severity = Severity.FINE;

  private DiagnosisRules(
      Snapshot snapshot, List<HistoryPoint> history, LeakReport leaks, Duration leastObservation) {
    this.snapshot = snapshot;
    this.trend = ProcessTrend.of(history, snapshot.self().since().orElse(Instant.MIN));
    this.leaks = leaks;
    this.leastObservation = leastObservation;
  }

  /**
   * The diagnosis.
   *
   * @param history the last hour, oldest first
   * @param leaks the latest verdicts
   * @param leastObservation how long use must have been observed for a leak to be told
   */
  public static Diagnosis diagnosis(
      Snapshot snapshot, List<HistoryPoint> history, LeakReport leaks, Duration leastObservation) {
    DiagnosisRules rules = new DiagnosisRules(snapshot, history, leaks, leastObservation);
    rules.limit();
    rules.leaks();
    rules.growth();
    rules.retained();
    rules.budget();
    rules.unexplained();
    rules.counting();
    return rules.concluded();
  }

  private Diagnosis concluded() {
    findings.sort(Comparator.comparing(Finding::severity).reversed());
    return new Diagnosis(severity, severity == Severity.FINE ? fineSentence() : sentence, findings);
  }

  private String fineSentence() {
    return trend.isPresent()
        ? "Native memory is fine"
        : "Native memory is fine so far; whether it grows shows after %d minutes"
            .formatted(ProcessTrend.WARM_UP.plus(ProcessTrend.SHORTEST).toMinutes());
  }

  // ---- The rules

  private void limit() {
    double limit = limitBytes();
    double used = usedBytes();
    if (Double.isNaN(limit)) {
      unknown("limit", "No memory limit is set, so nothing can be said of reaching it");
      return;
    }
    String text =
        "%s of the limit of %s is in use".formatted(Words.share(used / limit), Words.bytes(limit));
    if (used >= NEAR_THE_LIMIT * limit) {
      found(
          "limit",
          used >= AT_THE_LIMIT * limit ? Severity.ALARM : Severity.ATTENTION,
          "Memory is near its limit: " + text,
          text + ", without files that the kernel can drop");
    } else {
      fine("limit", text);
    }
  }

  private void leaks() {
    if (!snapshot.status().active()) {
      return;
    }
    List<SiteVerdict> found = leaks.leaks();
    if (!found.isEmpty()) {
      leaking(found);
    } else if (worstUnused().isPresent()) {
      unknown("leaks", worstUnused().get().sentence());
    } else if (observedForLongEnough() && leaks.observation().reason().isEmpty()) {
      fine("leaks", "No code keeps more and more objects that nobody uses");
    } else {
      String why = leaks.reason().isEmpty() ? leaks.observation().reason() : leaks.reason();
      unknown(
          "leaks",
          why.isEmpty()
              ? "Not observed for long enough to tell a leak"
              : "Whether objects are used is not observed: " + why);
    }
  }

  /** What was loaded once and is left alone becomes no more. */
  private Optional<SiteVerdict> worstUnused() {
    return leaks.suspicious().stream()
        .filter(site -> site.verdict() == Verdict.UNUSED && !site.acknowledged())
        .filter(SiteVerdict::grows)
        .findFirst();
  }

  private boolean observedForLongEnough() {
    Observation seen = leaks.observation();
    return seen.hasSeen()
        && seen.epochEndNanos() - seen.startedNanos() >= leastObservation.toNanos();
  }

  private void leaking(List<SiteVerdict> found) {
    SiteVerdict worst = found.get(0);
    // Its own time: the process may grow faster for another reason, of which growth() tells.
    double own = worst.growth().secondsToLimit();
    double seconds = Double.isNaN(own) ? secondsToLimit() : own;
    boolean limited = seconds < FAR.toSeconds();
    String inShort =
        limited
            ? "A leak in %s will reach the limit in %s"
                .formatted(worst.site().name(), Words.roughly(Duration.ofSeconds((long) seconds)))
            : "A leak in %s keeps %s"
                .formatted(worst.site().name(), Words.bytes(worst.suspected().bytes().value()));
    found(
        "leaks",
        limited && seconds < SOON.toSeconds() ? Severity.ALARM : Severity.ATTENTION,
        found.size() == 1
            ? inShort
            : inShort + ", and %d more code sites leak".formatted(found.size() - 1),
        worst.sentence());
  }

  /** When the limit is reached if live memory grows on; {@code NaN} if it does not. */
  private double secondsToLimit() {
    return trend
        .filter(ProcessTrend::grows)
        .map(growing -> Math.max(0, (limitBytes() - usedBytes()) / growing.bytesPerSecond()))
        .orElse(Double.NaN);
  }

  private void growth() {
    if (!snapshot.status().active()) {
      return;
    }
    if (trend.isEmpty()) {
      unknown("growth", "Not watched for long enough to tell growth from warming up");
    } else if (trend.get().grows()) {
      growing(trend.get());
    } else {
      fine("growth", "Memory in use has not grown for " + Words.duration(trend.get().watched()));
    }
  }

  private void growing(ProcessTrend growing) {
    double seconds = secondsToLimit();
    String pace =
        "Native memory in use grows by %s an hour"
            .formatted(Words.bytes(3600 * growing.bytesPerSecond()));
    String detail =
        pace + ", seen over " + Words.duration(growing.watched()) + "; warming up is left out";
    if (!(seconds < FAR.toSeconds())) {
      found("growth", Severity.ATTENTION, pace, detail);
      return;
    }
    Duration left = Duration.ofSeconds((long) seconds);
    found(
        "growth",
        left.compareTo(SOON) < 0 ? Severity.ALARM : Severity.ATTENTION,
        pace + " and will reach the limit in " + Words.roughly(left),
        detail);
  }

  private void retained() {
    Optional<AllocatorStatistics> known = snapshot.allocator();
    if (known.isEmpty()) {
      return;
    }
    AllocatorStatistics allocator = known.get();
    double resident = part(ResidentPart.MALLOC_RETAINED).orElse(allocator.retainedBytes());
    String amount = Words.bytes(resident);
    if (allocator.advice().isEmpty()) {
      fine(
          "retained",
          "The allocator keeps %s that is free, too little to act on".formatted(amount));
      return;
    }
    found(
        "retained",
        Severity.ATTENTION,
        amount + " is kept by " + keeper(allocator) + ", not used",
        allocator.advice().get(0).reason());
  }

  private static String keeper(AllocatorStatistics allocator) {
    return allocator.kind() == AllocatorKind.GLIBC ? "glibc arenas" : allocator.kind().tag();
  }

  private void budget() {
    snapshot
        .memory()
        .budget()
        .filter(budget -> !Double.isNaN(budget.limitBytes()))
        .ifPresent(
            budget -> {
              if (budget.headroomBytes() < 0) {
                found(
                    "budget",
                    Severity.ATTENTION,
                    capital(budget.verdict()),
                    capital(budget.verdict()));
              } else {
                fine("budget", capital(budget.verdict()));
              }
            });
  }

  private void unexplained() {
    Optional<ResidentMemory> split = snapshot.memory().resident();
    Optional<Double> bytes = part(ResidentPart.UNEXPLAINED);
    if (split.isEmpty() || bytes.isEmpty()) {
      return;
    }
    String text = Words.bytes(bytes.get()) + " of the resident set is unexplained";
    if (bytes.get() >= UNEXPLAINED_BYTES
        && bytes.get() >= UNEXPLAINED_SHARE * split.get().totalBytes()) {
      found("unexplained", Severity.ATTENTION, text, text);
    } else {
      fine("unexplained", text);
    }
  }

  private void counting() {
    Status status = snapshot.status();
    if (status.active()) {
      missed();
      return;
    }
    found(
        "counting",
        Severity.UNKNOWN,
        "Native allocations are not counted",
        "Native allocations are not counted: " + status.reason());
  }

  /** After an attach to which not every call leads. */
  private void missed() {
    String gaps = snapshot.self().attachment().map(Attachment::gaps).orElse("");
    if (!gaps.isEmpty()) {
      unknown("counting", "Not every native allocation is counted: " + gaps);
    }
  }

  // ---- What they share

  private double limitBytes() {
    return snapshot.memory().cgroup().map(CgroupMemory::limitBytes).orElse(Double.NaN);
  }

  private double usedBytes() {
    return snapshot.memory().cgroup().map(CgroupMemory::usedBytes).orElse(Double.NaN);
  }

  private Optional<Double> part(ResidentPart part) {
    return snapshot.memory().resident().flatMap(split -> split.of(part)).map(Long::doubleValue);
  }

  private void fine(String topic, String text) {
    findings.add(new Finding(topic, Severity.FINE, text));
  }

  /** A reason that is no answer: the sentence stays that of what is known. */
  private void unknown(String topic, String text) {
    findings.add(new Finding(topic, Severity.UNKNOWN, text));
  }

  private void found(String topic, Severity how, String inShort, String text) {
    findings.add(new Finding(topic, how, text));
    if (how.compareTo(severity) > 0) {
      severity = how;
      sentence = inShort;
    }
  }

  private static String capital(String text) {
    return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
