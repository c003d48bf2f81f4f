package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.history.SiteReadings;
import io.mallometer.internal.history.TopNames;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.WatchedAccess;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.internal.process.Pause;
import io.mallometer.internal.text.Log;
import io.mallometer.meter.TagValue;
import io.mallometer.model.CallSites;
import io.mallometer.model.LastUse;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Starts the observation of objects, and evaluates its results on the poller's thread every 15 s.
 * If evaluations would take more than a thousandth of the time, they come less often, down to once
 * a minute. The setting {@code leak.time-scale} divides these times. Watchpoints show the latest
 * accesses to objects of the worst leaking sites.
 */
public final class LeakWatch {

  /**
   * The shortest time between two readings of accessed bits; {@code leak.time-scale} divides it.
   */
  private static final Duration SHORTEST_EPOCH = Duration.ofSeconds(5);

  private static final long LONGEST_NANOS = 60_000_000_000L;
  private static final Duration WARNED_FOR = Duration.ofDays(1);
  private static final int MOST_WARNED = 1_000;
  private static final String NOT_BEGUN = "the observation has not begun yet";
  private static final String NOT_WANTED = "mallometer.leak.enabled is false";
  private static final LastUse NOT_WATCHED =
      LastUse.unavailable("only the worst leaks are watched");

  private final NativeLibrary library;
  private final SiteReadings callSites;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Supplier<GarbageCollections> collections;
  private final AcknowledgedSites acknowledgedSites = new AcknowledgedSites();
  private final KnownLeaks knownLeaks = new KnownLeaks();
  private final TopNames topSuspects = new TopNames(LeakSummary.TOP, LeakSummary.STAYING);
  private final TopNames topUnused = new TopNames(LeakSummary.TOP, LeakSummary.STAYING);

  private static final MallometerOptions OFF =
      MallometerOptions.defaults().with(Setting.LEAK_ENABLED, false);

  private volatile MallometerOptions options = OFF;
  private volatile LeakReport latest;
  private volatile Optional<LeakSummary> summary = Optional.empty();

  /** Guarded by this, like the fields below. */
  private @Nullable AcknowledgedSitesFile acknowledgedSitesFile;

  private @Nullable LeakDetector detector;

  private MallometerOptions detectorOptions = OFF;

  /**
   * The value of {@code leak.time-scale} with which the observation began; {@code NaN} while
   * nothing is observed.
   */
  private double observedScale = Double.NaN;

  private boolean everEvaluated;
  private long nextEvaluation;
  private List<Integer> watched = List.of();
  private String watchRefusal = "";
  private final Map<String, Instant> warned = new HashMap<>();
  private final Log.Once failure = Log.MALLOMETER.once();

  public LeakWatch(
      NativeLibrary library,
      SiteReadings callSites,
      Clock clock,
      LongSupplier nanoTime,
      Supplier<GarbageCollections> collections) {
    this.library = library;
    this.callSites = callSites;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.collections = collections;
    this.latest = LeakReport.none(Instant.EPOCH, NOT_BEGUN);
  }

  /**
   * Applies options from the next evaluation on. Sites that were acknowledged before stay
   * acknowledged.
   */
  public synchronized void configure(MallometerOptions wanted) {
    options = wanted;
    acknowledgedSites.add(wanted.get(Setting.LEAK_ACKNOWLEDGED_SITES));
    Optional<Path> file = wanted.find(Setting.LEAK_ACKNOWLEDGED_SITES_FILE);
    if (file.isPresent()) {
      useFile(file.get());
    }
    if (!wanted.get(Setting.LEAK_ENABLED)) {
      stopObserving();
      publish(LeakReport.none(clock.instant(), NOT_WANTED));
    }
  }

  private void useFile(Path path) {
    if (acknowledgedSitesFile == null) {
      acknowledgedSitesFile = new AcknowledgedSitesFile(path);
      acknowledgedSites.add(acknowledgedSitesFile.read());
    } else if (!acknowledgedSitesFile.path().equals(path)) {
      Log.MALLOMETER.warn(
          "Acknowledged call sites are stored in %s. The file %s is ignored, because it was configured later."
              .formatted(acknowledgedSitesFile.path(), path));
    }
  }

  /** Ends evaluations until the next configuration. The latest verdicts stay published. */
  public synchronized void end() {
    options = OFF;
    everEvaluated = false;
    stopObserving();
  }

  /** Ends the observation until the next evaluation, which begins it anew. */
  public synchronized void stopObserving() {
    if (!watched.isEmpty()) {
      watched = List.of();
      library.watchUse(watched);
    }
    if (!Double.isNaN(observedScale)) {
      observedScale = Double.NaN;
      detector = null; // The next observation needs a detector that counts epochs from 0.
      library.ignoreUse();
    }
  }

  public synchronized void suspend(String reason) {
    if (!options.get(Setting.LEAK_ENABLED) || latest.reason().equals(reason)) {
      return;
    }
    stopObserving();
    everEvaluated = false;
    publish(LeakReport.none(clock.instant(), reason));
  }

  /**
   * Clears the published reason why nothing is counted, unless an evaluation has already published
   * verdicts.
   */
  public synchronized void resume() {
    if (options.get(Setting.LEAK_ENABLED) && !everEvaluated) {
      publish(LeakReport.none(clock.instant(), ""));
    }
  }

  public synchronized void addKnownLeaks(List<KnownLeak> recorded) {
    knownLeaks.add(recorded);
  }

  public synchronized List<KnownLeak> knownLeaks() {
    return knownLeaks.all();
  }

  public LeakReport latest() {
    return latest;
  }

  public synchronized boolean isLost(int site) {
    return detector != null && detector.isLost(latest, site);
  }

  public Optional<LeakSummary> summary() {
    return summary;
  }

  /**
   * Records whether all call sites of a name are acknowledged, and shows this in the latest
   * verdicts before it returns.
   */
  public void acknowledge(String site, boolean acknowledged) {
    AcknowledgedSitesFile file = note(site, acknowledged);
    if (file != null) {
      file.put(site.strip(), acknowledged);
    }
  }

  /**
   * Records an acknowledgement, and returns the file in which to store it; null if no file is
   * configured.
   */
  private synchronized @Nullable AcknowledgedSitesFile note(String site, boolean acknowledged) {
    if (acknowledged) {
      acknowledgedSites.add(List.of(site));
    } else {
      acknowledgedSites.remove(site);
    }
    LeakReport known = latest;
    publish(
        known.with(
            known.sites().stream()
                .map(one -> one.acknowledged(acknowledgedSites.contain(one.site().name())))
                .toList()));
    return acknowledgedSitesFile;
  }

  /**
   * Evaluates if an evaluation is due and a reading of the call sites is affordable. Also evaluates
   * if nothing was evaluated yet, or if a search of memory for lost objects has ended with a new
   * result.
   */
  public synchronized void evaluateIfDue(int threads) {
    long now = nanoTime.getAsLong();
    if (!options.get(Setting.LEAK_ENABLED)) {
      return;
    }
    boolean found =
        detector != null && detector.search(library, latest, collections.get(), threads, now);
    boolean due =
        now - nextEvaluation >= 0 && callSites.isAffordable(options.get(Setting.LEAK_TIME_SCALE));
    if (found || !everEvaluated || due) {
      evaluate();
    }
  }

  /**
   * Evaluates, and schedules the next evaluation even if this one fails. The pause is also kept
   * after a failure, because a failed evaluation takes as much time as a successful one.
   */
  private void evaluate() {
    MallometerOptions current = options;
    long start = nanoTime.getAsLong();
    everEvaluated = true;
    try {
      CallSites sites =
          callSites.notOlderThan(
              LeakDetector.interval(current), current.get(Setting.LEAK_TIME_SCALE));
      // The pause after an evaluation depends on its duration. Reading the call sites does not
      // count, because it limits its own cost.
      start = nanoTime.getAsLong();
      publish(evaluate(current, sites));
      watchTheWorst();
      warn();
      logFailure();
    } finally {
      long end = nanoTime.getAsLong();
      double pause =
          Pause.after(end - start, 0, LONGEST_NANOS) / current.get(Setting.LEAK_TIME_SCALE);
      nextEvaluation =
          start + Math.max(LeakDetector.interval(current).toNanos(), (long) pause + end - start);
    }
  }

  private LeakReport evaluate(MallometerOptions current, CallSites sites) {
    double scale = current.get(Setting.LEAK_TIME_SCALE);
    if (observedScale != scale) {
      observedScale = scale;
      library.observeUse(Duration.ofNanos((long) (SHORTEST_EPOCH.toNanos() / scale)));
    }
    Evidence evidence = library.evidence();
    LatestAccesses uses = lastUses(evidence);
    return detector(current)
        .evaluate(evidence, sites, clock.instant(), uses, acknowledgedSites::contain);
  }

  private LeakDetector detector(MallometerOptions current) {
    LeakDetector known = detector;
    if (known == null
        || differs(current, Setting.LEAK_WORKLOAD)
        || differs(current, Setting.LEAK_LONGEST_TIMEOUT)
        || differs(current, Setting.LEAK_TIME_SCALE)) {
      known = known == null ? new LeakDetector(current, knownLeaks) : known.with(current);
      detector = known;
      detectorOptions = current;
    }
    return known;
  }

  private boolean differs(MallometerOptions current, Setting<?> setting) {
    return !current.find(setting).equals(detectorOptions.find(setting));
  }

  public void publish(LeakReport report) {
    latest = report;
    boolean judged = report.observation().state() == Observation.State.ON;
    summary = judged ? Optional.of(summary(report)) : Optional.empty();
  }

  private LeakSummary summary(LeakReport report) {
    List<SiteVerdict> leaks = report.leaks();
    return new LeakSummary(
        report.time(),
        new LeakSummary.Counts(
            count(leaks, LeakEvidence.LOST),
            count(leaks, LeakEvidence.OUTLASTED),
            count(leaks, LeakEvidence.KNOWN),
            count(report, Verdict.UNUSED),
            count(report, Verdict.GROWING),
            count(report, Verdict.WAITS_FOR_GC),
            count(report, Verdict.POOL)),
        idleBytes(report, Verdict.LEAK, topSuspects),
        idleBytes(report, Verdict.UNUSED, topUnused),
        leaks.subList(0, Math.min(LeakSummary.WORST, leaks.size())),
        leaks.isEmpty() ? Optional.empty() : Optional.of(leaks.get(0).sentence()));
  }

  /**
   * Returns the suspected bytes of the sites with the given verdict, by the name of the site. Names
   * with few bytes are combined, and acknowledged sites are left out.
   */
  private static List<SiteSummary.Share> idleBytes(
      LeakReport report, Verdict verdict, TopNames top) {
    Map<String, Double> bytes = new HashMap<>();
    for (SiteVerdict site : report.suspicious()) {
      if (site.verdict() == verdict && !site.acknowledged()) {
        TopNames.add(bytes, TagValue.of(site.site().name()), site.suspected().bytes().value());
      }
    }
    return bytes.isEmpty() ? List.of() : top.choose(TopNames.ranked(bytes));
  }

  private static int count(List<SiteVerdict> leaks, LeakEvidence evidence) {
    int count = 0;
    for (SiteVerdict leak : leaks) {
      count += leak.grounds().evidence() == evidence ? 1 : 0;
    }
    return count;
  }

  private static int count(LeakReport report, Verdict verdict) {
    int count = 0;
    for (SiteVerdict site : report.suspicious()) {
      count += site.verdict() == verdict && !site.acknowledged() ? 1 : 0;
    }
    return count;
  }

  // ---- Watching for accesses to objects of the worst leaks

  private void watchTheWorst() {
    List<SiteVerdict> leaks = latest.leaks();
    List<Integer> worst = new ArrayList<>();
    for (int i = 0; i < Math.min(NativeLibrary.MOST_WATCHED, leaks.size()); i++) {
      worst.add(leaks.get(i).site().number());
    }
    Collections.sort(worst);
    if (!worst.equals(watched)) {
      watched = worst;
      watchRefusal = library.watchUse(worst);
    }
  }

  private LatestAccesses lastUses(Evidence evidence) {
    String refusal = watchRefusal;
    String unwatchable = refusal.isEmpty() ? evidence.observation().watchReason() : refusal;
    if (!unwatchable.isEmpty()) {
      return LatestAccesses.unavailable(unwatchable);
    }
    List<WatchedAccess> seen = library.watchedAccesses();
    Instant now = clock.instant();
    return (site, write) ->
        seen.stream()
            .filter(use -> use.site() == site && (use.write() || !write))
            .max(Comparator.comparingLong(WatchedAccess::nanos))
            .map(
                use ->
                    LastUse.seen(
                        now.minusNanos(Math.max(0, evidence.nanos() - use.nanos())),
                        use.thread(),
                        use.frames()))
            .orElseGet(
                () ->
                    watched.contains(site)
                        ? LastUse.unavailable(
                            "no %s since the watch began".formatted(write ? "write" : "access"))
                        : NOT_WATCHED);
  }

  // ---- Logging

  private void warn() {
    Instant now = clock.instant();
    warned.values().removeIf(time -> !time.plus(WARNED_FOR).isAfter(now));
    for (SiteVerdict leak : latest.leaks()) {
      if (warned.size() < MOST_WARNED && warned.putIfAbsent(leak.site().name(), now) == null) {
        Log.MALLOMETER.warn("Native memory leaks: " + leak.sentence());
      }
    }
  }

  private void logFailure() {
    if (detector != null && detector.failure().isPresent()) {
      failure.warn(
          "A call site cannot be judged; its last verdict stays", detector.failure().get());
    }
  }
}
