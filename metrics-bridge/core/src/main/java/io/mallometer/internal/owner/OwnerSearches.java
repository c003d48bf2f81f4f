package io.mallometer.internal.owner;

import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.OwnerSearch;
import io.mallometer.internal.library.OwnerSearch.Figures;
import io.mallometer.internal.library.OwnerSearch.Step;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Outcome;
import io.mallometer.model.OwnerReport.Way;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * Searches the Java heap for the owners of native memory, only on request and one search at a time.
 * A walk over the heap stops the program and cannot end early, so its duration is estimated first
 * and must be within a budget.
 *
 * <p>A search runs on the requesting thread, never on the poller's.
 */
public final class OwnerSearches {

  /** The largest number of references of a path that are followed. */
  public static final int MOST_LINKS = 8;

  /**
   * A walk over the heap may take at most this share of the memory that is left below the limit.
   */
  private static final double SHARE_OF_ROOM = 0.25;

  private static final String BUSY = "another search is under way";

  interface WalkConditions {
    PauseEstimate estimate(double correction);

    double committedHeapBytes();

    /** Returns how many bytes of memory are left below the limit; {@code NaN} if unknown. */
    double roomBytes();
  }

  private final NativeLibrary library;
  private final WalkConditions conditions;
  private final Supplier<OwnerBudget> budget;
  private final IntPredicate isLost;
  private final Clock clock;
  private final ReentrantLock running = new ReentrantLock();

  /** The duration of the latest walk over the heap as a multiple of its estimate. */
  private volatile double correction = 1;

  private volatile Optional<OwnerReport> latest = Optional.empty();

  /**
   * Creates an object that has not searched yet.
   *
   * @param isLost tells, by the number of a call site, whether the search for lost memory proved
   *     that the site's objects are lost
   */
  public OwnerSearches(
      NativeLibrary library,
      WalkConditions conditions,
      Supplier<OwnerBudget> budget,
      IntPredicate isLost,
      Clock clock) {
    this.library = library;
    this.conditions = conditions;
    this.budget = budget;
    this.isLost = isLost;
    this.clock = clock;
  }

  public Optional<OwnerReport> latest() {
    return latest;
  }

  public OwnerReport.Outlook outlook() {
    double estimated = estimatedSeconds();
    return new OwnerReport.Outlook(
        estimated, running.isLocked() ? BUSY : refusal(budget.get(), estimated, 0));
  }

  private double estimatedSeconds() {
    return conditions.estimate(correction).seconds(false);
  }

  /**
   * Searches within the budget of the options.
   *
   * @param site the call site's number
   * @param links how many references to follow outwards, at most {@link #MOST_LINKS}; each takes
   *     one walk over the heap, which stops the program
   */
  public OwnerReport search(int site, int links) {
    return search(site, links, budget.get());
  }

  public OwnerReport search(int site, int links, OwnerBudget allowed) {
    if (!running.tryLock()) {
      return none(Outcome.REFUSED, BUSY, site, Double.NaN);
    }
    try {
      double estimated = estimatedSeconds();
      String refusal = refusal(allowed, estimated, 0);
      if (!refusal.isEmpty()) {
        return none(Outcome.REFUSED, refusal, site, estimated);
      }
      OwnerReport report = begin(site, Math.min(MOST_LINKS, links), allowed, estimated);
      if (report.outcome() == Outcome.DONE) {
        latest = Optional.of(report);
      }
      return report;
    } catch (OutOfMemoryError e) {
      return none(
          Outcome.REFUSED,
          "there is no memory for what was found; the search was given up",
          site,
          Double.NaN);
    } finally {
      running.unlock();
    }
  }

  private OwnerReport none(Outcome outcome, String explanation, int site, double estimated) {
    return OwnerReport.none(outcome, explanation, clock.instant(), site, estimated);
  }

  // ---- Deciding whether a walk is within the budget

  private String refusal(OwnerBudget allowed, double estimated, double paused) {
    double most = allowed.pause().toMillis() / 1e3;
    double left = allowed.total().toMillis() / 1e3 - paused;
    if (most == 0) {
      return "searches of the Java heap are switched off: mallometer.owners.max-pause is 0";
    }
    if (estimated > most || estimated > left) {
      return ("a walk over the heap would stop the program for about %s, and %s; mallometer owners has"
              + " options (--pause, --total) that allow more for one search")
          .formatted(
              seconds(estimated),
              estimated > most
                  ? "mallometer.owners.max-pause allows " + seconds(most)
                  : "of mallometer.owners.max-total-pause "
                      + seconds(Math.max(0, left))
                      + " are left");
    }
    double wanted = PauseEstimate.memoryBytes(conditions.committedHeapBytes());
    double room = conditions.roomBytes();
    if (wanted > SHARE_OF_ROOM * room) {
      return "a walk over the heap takes %s of memory, and only %s are left below the limit"
          .formatted(HumanText.bytes(wanted), HumanText.bytes(room));
    }
    return "";
  }

  private static String seconds(double seconds) {
    return String.format(Locale.ROOT, seconds < 1 ? "%.2f s" : "%.1f s", seconds);
  }

  // ---- The steps of a search

  private OwnerReport begin(int site, int links, OwnerBudget allowed, double estimated) {
    try (OwnerSearch search = library.searchOwners(site)) {
      Figures begun = search.begun();
      if (!begun.failure().isEmpty()) {
        return none(Outcome.UNSUPPORTED, begun.failure(), site, estimated);
      }
      if (begun.samples() < OwnerFinder.FEWEST_SAMPLES) {
        return none(Outcome.UNSUPPORTED, OwnerFinder.tooFew(begun.samples()), site, estimated);
      }
      return new RunningSearch(search, begun, allowed).report(site, links, estimated);
    }
  }

  private final class RunningSearch {
    private final OwnerSearch search;
    private final OwnerBudget allowed;
    private final List<Double> pauses = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();
    private Figures now;
    private boolean linked;

    RunningSearch(OwnerSearch search, Figures begun, OwnerBudget allowed) {
      this.search = search;
      this.now = begun;
      this.allowed = allowed;
    }

    OwnerReport report(int site, int links, double estimated) {
      if (!walk(Step.HOLDERS, false)) {
        return none(Outcome.UNSUPPORTED, now.failure(), site, estimated);
      }
      followNativePointers();
      follow(links);
      HeapGraph graph = search.graph();
      int live = graph.samples() - graph.freed();
      if (live <= 0) {
        return none(
            Outcome.UNSUPPORTED,
            "all %d samples were freed during the search, or counting ended"
                .formatted(graph.samples()),
            site,
            estimated);
      }
      return concluded(graph, live, site, estimated);
    }

    private OwnerReport concluded(HeapGraph graph, int live, int site, double estimated) {
      if (now.samplesLeftOut() > 0) {
        remarks.add("%d more samples were not looked for".formatted(now.samplesLeftOut()));
      }
      if (graph.freed() > 0) {
        remarks.add("%d samples were freed during the search".formatted(graph.freed()));
      }
      if (now.leftOut() > 0) {
        remarks.add("the search ran out of room and left %d finds out".formatted(now.leftOut()));
      }
      List<Way> ways = OwnerFinder.ways(graph, linked);
      return new OwnerReport(
          Outcome.DONE,
          OwnerFinder.sentence(ways, live, conditions.estimate(1).marks(), isLost.test(site)),
          clock.instant(),
          site,
          live,
          pauses,
          estimated,
          ways,
          remarks);
    }

    /** Walks over the heap. Returns false on failure, whose reason is in {@link #now}. */
    private boolean walk(Step step, boolean severalClasses) {
      PauseEstimate before = conditions.estimate(1);
      now = search.step(step);
      if (!now.failure().isEmpty()) {
        return false;
      }
      pauses.add(now.walkSeconds());
      correction = before.corrected(severalClasses, now.walkSeconds());
      return true;
    }

    private double paused() {
      return pauses.stream().mapToDouble(Double::doubleValue).sum();
    }

    /** Returns whether the budget allows one more walk. If it does not, adds a remark. */
    private boolean mayWalk(boolean severalClasses, String without) {
      String refusal =
          refusal(allowed, conditions.estimate(correction).seconds(severalClasses), paused());
      if (!refusal.isEmpty()) {
        remarks.add(without + ": " + refusal);
      }
      return refusal.isEmpty();
    }

    private void followNativePointers() {
      HeapGraph graph = search.graph();
      long held = graph.holds().stream().mapToInt(HeapGraph.Hold::sample).distinct().count();
      if (held == graph.samples()) {
        return;
      }
      Figures before = now;
      now = search.step(Step.POINTERS);
      if (!now.failure().isEmpty()) {
        remarks.add("ways through native memory were not followed: " + now.failure());
        now = before;
      } else if (now.pointers() > 0
          && mayWalk(
              false, "who holds what leads to samples through native memory was not looked at")
          && !walk(Step.POINTER_HOLDERS, false)) {
        remarks.add("ways through native memory were not followed: " + now.failure());
        now = before;
      }
    }

    private void follow(int links) {
      for (int link = 0; link < links && now.nextObjects() > 0; link++) {
        if (linked && OwnerFinder.isConcluded(search.graph())) {
          return;
        }
        boolean several = now.nextClasses() > 1;
        if (!mayWalk(
            several, "what keeps the holders was looked at over %d links".formatted(link))) {
          return;
        }
        Figures before = now;
        if (!walk(Step.REFERRERS, several)) {
          remarks.add("what keeps the holders was not looked at further: " + now.failure());
          now = before;
          return;
        }
        linked = true;
      }
    }
  }
}
