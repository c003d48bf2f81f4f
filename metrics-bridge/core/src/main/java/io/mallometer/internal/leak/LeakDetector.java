package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.Evidence;
import io.mallometer.internal.interposer.Interposer;
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
 * From one evidence after the other to verdicts.
 *
 * <p>What is judged is a call site, which is one whole stack: a leak behind a wrapper that others
 * share is told apart from them. Where a name has many stacks, each with too few idle samples to be
 * judged, those are judged together, by name and library: together they have the evidence that one
 * alone has not. A site that could be judged alone is never in such a group. While a group is a
 * leak its sites stay in it, but for those that are leaks by themselves; and a site that is a leak
 * stays out of groups however few idle objects it has left. Else either would be judged as
 * something that has no verdict yet. Shown is one entry for all suspects of a name and library, as
 * native offsets and inlining make several stacks of one leak.
 *
 * <p>A site becomes growing, unused or lost at the first evaluation that says so, and healthy when
 * all its observed objects are freed; otherwise a verdict changes when {@link
 * LeakThresholds#AGREEING} evaluations in a row say so: one epoch proves nothing. An evaluation
 * before the next epoch has ended that says something changes nothing but growth. A leak stays one
 * until as many as {@link LeakThresholds#AGREEING_TO_CLEAR} in a row find that its arrivals have
 * ended, or that its objects are used again or freed.
 *
 * <p>Where a site cannot be judged because of an exception it keeps what it has, and {@link
 * #failure()} tells why; the others are judged.
 *
 * <p>Sites that are judged together are never growing. They are picked by what they hold now, and
 * what such sites held rises up to now also where the stacks of a name take turns.
 *
 * <p>An evaluation takes a time in proportion to the sites and samples: with 13,000 and 10,000 of
 * them 8 ms of processor time, and 0.1 s the first time, when nothing is compiled yet. Not
 * thread-safe.
 */
public final class LeakDetector {

  private static final double NANOS = 1e9;

  private final Times times;
  private final RecentGrowth growth;
  private final LostMemory lost;
  private final VoidTime voidTime;
  private final KnownLeaks known;
  private @Nullable Standings standings;
  private List<SiteVerdict> verdicts = List.of();
  private Optional<RuntimeException> failure = Optional.empty();
  private long tellingEpochs;

  /** A detector without knowledge, for options whose names of healthy sites are not used here. */
  public LeakDetector(MallometerOptions options) {
    this(options, new KnownLeaks());
  }

  /**
   * The same.
   *
   * @param known the leaks of earlier runs, which learns from evaluations
   */
  public LeakDetector(MallometerOptions options, KnownLeaks known) {
    this(options, new VoidTime(), known);
  }

  private LeakDetector(MallometerOptions options, VoidTime voidTime, KnownLeaks known) {
    this.voidTime = voidTime;
    this.known = known;
    this.times = Times.of(options);
    this.growth = new RecentGrowth(times.scale());
    this.lost = new LostMemory(times.scale());
  }

  /** A detector for other options that knows when nothing was seen, and no verdicts. */
  public LeakDetector with(MallometerOptions options) {
    return new LeakDetector(options, voidTime, known);
  }

  /** How long to wait between two evaluations. */
  public static Duration pace(MallometerOptions options) {
    return Duration.ofNanos(
        (long) (LeakThresholds.PACE_SECONDS * NANOS / options.get(Setting.LEAK_TIME_SCALE)));
  }

  /**
   * Evaluates.
   *
   * @param sites the call sites of about the same moment
   * @param time the moment
   * @param acknowledged whether the site of a name is known to be fine
   */
  public LeakReport evaluate(
      Evidence evidence,
      CallSites sites,
      Instant time,
      LastUses uses,
      Predicate<String> acknowledged) {
    voidTime.add(evidence);
    boolean news = hasNews(evidence.observation());
    SamplesBySite samples = new SamplesBySite(evidence.objects());
    growth.add(samples, evidence.counted(), evidence.nanos() / NANOS);
    Standings before = standings == null ? new Standings(time) : standings;
    Window window = Window.of(evidence.observation(), times, voidTime);
    Evaluation evaluation =
        new Evaluation(evidence, samples, window, growth, lost, known, before, news, time);
    evaluation.judge(sites.sites());
    standings = evaluation.standings();
    verdicts = evaluation.verdicts(verdicts, uses, acknowledged);
    evaluation.remember(acknowledged);
    lost.take(evaluation.stacks());
    failure = evaluation.failure();
    Observation observation = evidence.observation();
    return new LeakReport(
        time,
        observation.hasSeen() ? observation.withLostMemory(lost.words()) : observation,
        verdicts,
        sites.reason());
  }

  /**
   * Has memory searched for what nobody can use or free any more, if it is time.
   *
   * @param latest the latest verdicts
   * @param threads of the process
   * @return whether something was found that the next evaluation will tell
   */
  public boolean search(Interposer library, LeakReport latest, int threads, long nowNanos) {
    return lost.advance(library, latest, threads, nowNanos);
  }

  /** Whether a verdict on the site, on whichever of its stacks it stands, says memory is lost. */
  public boolean isLost(LeakReport latest, int site) {
    return lost.isLost(latest, site);
  }

  /** Why a site could not be judged in the latest evaluation; empty if all could. */
  public Optional<RuntimeException> failure() {
    return failure;
  }

  /** Whether an epoch has ended since the last evaluation that says something, if any ever does. */
  private boolean hasNews(Observation observation) {
    long telling = observation.epochs() - observation.voidEpochs();
    boolean news = !observation.hasSeen() || telling != tellingEpochs;
    tellingEpochs = telling;
    return news;
  }
}
