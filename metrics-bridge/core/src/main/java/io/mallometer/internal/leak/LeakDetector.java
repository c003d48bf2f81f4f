package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.model.CallSites;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Judges the call sites by successive readings of {@link Evidence}.
 *
 * <p>Each stack is judged by itself, so that a leak behind a wrapper is separated from the
 * wrapper's other callers. All stacks of a name and library are also judged together, except those
 * that are leaks by themselves: native offsets and inlining make several stacks of one leak, each
 * with little evidence. A report combines all suspects of a name into one entry. A milder kind of
 * suspect that has more bytes than the graver kind gets an entry of its own.
 *
 * <p>A site becomes growing, unused or a leak of lost objects at the first evaluation that finds
 * this, and healthy when all its observed objects are freed. Other changes need {@link
 * LeakThresholds#EVALUATIONS_TO_CHANGE} evaluations in a row, because one epoch (the time between
 * two readings of the accessed bits) proves nothing. Growth ends, and a leak is given up, after
 * {@link LeakThresholds#EVALUATIONS_TO_CLEAR} evaluations in a row that speak against it. Unused
 * memory keeps its verdict until its figures fall to about half of the thresholds. An evaluation
 * without a new valid epoch can only change a verdict from healthy to growing or back.
 *
 * <p>A site that cannot be judged because of an exception keeps its verdict, and {@link #failure()}
 * has the exception. The other sites are judged.
 *
 * <p>The time of an evaluation is proportional to the sites and samples: 13,000 sites and 10,000
 * samples take 20 ms of CPU time, and 0.2 s before they are compiled. Not thread-safe.
 */
public final class LeakDetector {

  private static final double NANOS = 1e9;

  private final IdleLimits times;
  private final RecentGrowth growth;
  private final LostMemory lost;
  private final WaitingGarbage garbage = new WaitingGarbage();
  private final VoidTime voidTime;
  private final KnownLeaks known;
  private Verdicts.@Nullable States states;
  private List<SiteVerdict> verdicts = List.of();
  private Optional<RuntimeException> failure = Optional.empty();
  private long validEpochs;

  /** Creates a detector without known leaks. It ignores the options' acknowledged sites. */
  public LeakDetector(MallometerOptions options) {
    this(options, new KnownLeaks());
  }

  /**
   * Creates a detector.
   *
   * @param known the leaks of earlier runs; evaluations add to them
   */
  public LeakDetector(MallometerOptions options, KnownLeaks known) {
    this(options, new VoidTime(), known);
  }

  private LeakDetector(MallometerOptions options, VoidTime voidTime, KnownLeaks known) {
    this.voidTime = voidTime;
    this.known = known;
    this.times = IdleLimits.of(options);
    this.growth = new RecentGrowth(times.scale());
    this.lost = new LostMemory(times.scale());
  }

  /**
   * Returns a detector with other options. It shares the times without evidence and the known
   * leaks, but not the verdicts.
   */
  public LeakDetector with(MallometerOptions options) {
    return new LeakDetector(options, voidTime, known);
  }

  /** Returns the time between two evaluations. */
  public static Duration interval(MallometerOptions options) {
    return Duration.ofNanos(
        (long) (LeakThresholds.EVALUATION_SECONDS * NANOS / options.get(Setting.LEAK_TIME_SCALE)));
  }

  /**
   * Evaluates evidence.
   *
   * @param sites the call sites, read at about the same moment
   * @param time the moment of the evidence
   * @param uses the latest accesses to the objects of each site
   * @param acknowledged returns whether the call sites with a name are acknowledged
   */
  public LeakReport evaluate(
      Evidence evidence,
      CallSites sites,
      Instant time,
      LatestAccesses uses,
      Predicate<String> acknowledged) {
    voidTime.add(evidence);
    boolean news = hasNews(evidence.observation());
    SamplesBySite samples = new SamplesBySite(evidence.objects());
    growth.add(samples, evidence.counted(), evidence.nanos() / NANOS);
    garbage.add(evidence.cleaning(), samples, evidence.nanos() / NANOS);
    Verdicts.States before = states == null ? Verdicts.States.none(time) : states;
    ObservationWindow window = ObservationWindow.of(evidence.observation(), times, voidTime);
    Verdicts evaluation =
        new Verdicts(
            evidence, window, new Verdicts.Past(growth, lost, garbage), known, before, news, time);
    evaluation.assess(sites.sites());
    states = evaluation.states();
    verdicts = evaluation.verdicts(verdicts, uses, acknowledged);
    evaluation.remember(acknowledged);
    lost.setStacks(evaluation.stacks());
    failure = evaluation.failure();
    Observation observation = evidence.observation();
    return new LeakReport(
        time,
        observation.hasSeen() ? observation.withLostMemory(lost.resultText()) : observation,
        verdicts,
        sites.reason(),
        evaluation.garbageByName(),
        garbage.reason());
  }

  /**
   * Starts or finishes a search of memory for lost objects, if one is due.
   *
   * @param latest the latest verdicts
   * @param collections the garbage collections so far
   * @param threads the number of threads of the process
   * @return whether the lost sites have changed; the next evaluation reports them
   */
  public boolean search(
      NativeLibrary library,
      LeakReport latest,
      GarbageCollections collections,
      int threads,
      long nowNanos) {
    return lost.advance(library, latest, collections, threads, nowNanos);
  }

  /** Returns whether a verdict on the site, alone or with others, says that memory is lost. */
  public boolean isLost(LeakReport latest, int site) {
    return lost.isLost(latest, site);
  }

  /** Returns the first exception of the latest evaluation; empty if all sites could be judged. */
  public Optional<RuntimeException> failure() {
    return failure;
  }

  /**
   * Returns whether an epoch (the time between two readings of the accessed bits) has ended with a
   * valid result since the last evaluation, or no epoch has had a result.
   */
  private boolean hasNews(Observation observation) {
    long valid = observation.period().epochs() - observation.period().voidEpochs();
    boolean news = !observation.hasSeen() || valid != validEpochs;
    validEpochs = valid;
    return news;
  }
}
