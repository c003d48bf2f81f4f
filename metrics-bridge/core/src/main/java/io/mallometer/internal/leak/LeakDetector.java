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
 * Judges the call sites by successive readings of {@link Evidence}. Not thread-safe.
 *
 * <p>Each stack is judged by itself, so that a leak behind a wrapper is separated from the
 * wrapper's other callers. Stacks with the same name and library that are no leaks by themselves
 * are also judged together, because native offsets and inlining split one leak into several stacks.
 * A report combines all suspects with the same name.
 *
 * <p>A verdict changes when enough evaluations in a row contradict it. How many are needed depends
 * on the change:
 *
 * <ul>
 *   <li>One evaluation: a change to a graver verdict, if that is GROWING, UNUSED, or a LEAK of lost
 *       memory, whose addresses exist nowhere in the process.
 *   <li>One evaluation: a change to HEALTHY because all observed objects were freed, unless the
 *       verdict was LEAK.
 *   <li>{@link LeakThresholds#EVALUATIONS_TO_CLEAR} evaluations: the end of LEAK, and any other
 *       change from GROWING to HEALTHY.
 *   <li>{@link LeakThresholds#EVALUATIONS_TO_CHANGE} evaluations: all other changes, because one
 *       epoch (the time between two readings of the accessed bits) proves nothing.
 * </ul>
 *
 * <p>Unused memory keeps its verdict until its figures fall to about half of the thresholds.
 * Without a new valid epoch, a verdict can only change between HEALTHY and GROWING. A site keeps
 * its verdict if its evaluation throws an exception.
 *
 * <p>An evaluation of 13,000 sites and 10,000 samples takes 20 ms of CPU time, and 0.2 s before the
 * code is compiled.
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
   * Returns a detector with other options. It shares the known leaks and the times in which
   * accesses could not be observed, but not the verdicts.
   */
  public LeakDetector with(MallometerOptions options) {
    return new LeakDetector(options, voidTime, known);
  }

  public static Duration interval(MallometerOptions options) {
    return Duration.ofNanos(
        (long) (LeakThresholds.EVALUATION_SECONDS * NANOS / options.get(Setting.LEAK_TIME_SCALE)));
  }

  /**
   * Evaluates evidence.
   *
   * @param sites the call sites, read at about the same moment
   * @param uses the latest accesses to the objects of each site
   * @param acknowledged tells for a name whether its call sites are acknowledged
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
   * @param collections the garbage collections so far
   * @param threads the number of threads of the process
   * @return whether a search has ended with a new result on lost objects; the next evaluation
   *     reports it
   */
  public boolean search(
      NativeLibrary library,
      LeakReport latest,
      GarbageCollections collections,
      int threads,
      long nowNanos) {
    return lost.advance(library, latest, collections, threads, nowNanos);
  }

  public boolean isLost(LeakReport latest, int site) {
    return lost.isLost(latest, site);
  }

  /** Returns the first exception of the latest evaluation; empty if all sites could be judged. */
  public Optional<RuntimeException> failure() {
    return failure;
  }

  /**
   * Returns whether a valid epoch (the time between two readings of the accessed bits) has ended
   * since the last evaluation. Also returns true while there is no result at all yet.
   */
  private boolean hasNews(Observation observation) {
    long valid = observation.period().epochs() - observation.period().voidEpochs();
    boolean news = !observation.hasSeen() || valid != validEpochs;
    validEpochs = valid;
    return news;
  }
}
