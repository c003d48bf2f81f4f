package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.symbol.StackFingerprint;
import io.mallometer.model.CallSite;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The stacks that were a leak in earlier runs, and what of this run the next shall know.
 *
 * <p>A stack stays known from run to run, also in runs that do not show whether it leaks. It is
 * forgotten when its leak is given up, when its objects are reused as those of a pool, when it is
 * acknowledged, and when none of its objects was idle for longer than the longest timeout. Stacks
 * that are judged together, since each has too few idle samples, are not remembered. Not
 * thread-safe.
 */
public final class KnownLeaks {

  /** By stack, as are those of this run. */
  private final Map<String, KnownLeak> ofEarlierRuns = new HashMap<>();

  private final Map<String, KnownLeak> ofThisRun = new HashMap<>();

  /** Stacks that are no leaks, whatever site of theirs seems one. */
  private final Set<String> refuted = new HashSet<>();

  /** By site, since when none of its objects was idle. */
  private final Map<Integer, Instant> usedSince = new HashMap<>();

  /** Adds what earlier runs recorded. */
  public void add(List<KnownLeak> recorded) {
    for (KnownLeak leak : recorded) {
      if (!refuted.contains(leak.stack()) && !ofThisRun.containsKey(leak.stack())) {
        ofEarlierRuns.put(leak.stack(), leak);
      }
    }
  }

  /** The leaks to be recorded, the latest first. */
  public List<KnownLeak> all() {
    return Stream.concat(
            ofThisRun.values().stream(),
            ofEarlierRuns.values().stream().filter(leak -> !ofThisRun.containsKey(leak.stack())))
        .sorted(Comparator.comparing(KnownLeak::time).reversed().thenComparing(KnownLeak::stack))
        .limit(KnownLeak.MOST)
        .toList();
  }

  /** When a stack was a leak in an earlier run; null if it was none. */
  @Nullable KnownLeak of(List<StackFrame> frames) {
    return ofEarlierRuns.isEmpty() ? null : ofEarlierRuns.get(StackFingerprint.of(frames));
  }

  /**
   * Learns from an evaluation of a site.
   *
   * @param standing after it
   * @param acknowledged whether the site of a name is known to be fine
   */
  void learn(
      CallSite site, Standing standing, Predicate<String> acknowledged, Instant time, Times times) {
    boolean leak = standing.isLeak();
    if (!leak && ofEarlierRuns.isEmpty() && ofThisRun.isEmpty()) {
      return;
    }
    String stack = StackFingerprint.of(site.frames());
    if (acknowledged.test(site.name())) {
      forget(stack);
    } else if (leak) {
      convict(stack, standing);
    } else if (standing.verdict() == Verdict.POOL
        || isUsedForLong(site.number(), standing, time, times)) {
      refute(stack);
    }
  }

  /** Forgets a site's stack, whose leak is given up. */
  void refute(CallSite site) {
    refute(StackFingerprint.of(site.frames()));
  }

  private void convict(String stack, Standing leak) {
    LeakEvidence evidence = leak.shown().leakEvidence();
    if (evidence != LeakEvidence.KNOWN && !refuted.contains(stack)) {
      ofThisRun.put(stack, new KnownLeak(stack, leak.since(), evidence));
    }
  }

  private boolean isUsedForLong(int site, Standing standing, Instant time, Times times) {
    SiteVerdict.Suspected idle = standing.shown().suspected();
    boolean used =
        standing.verdict() == Verdict.HEALTHY
            && !Double.isNaN(idle.thresholdSeconds())
            && idle.objects().value() == 0;
    if (!used) {
      usedSince.remove(site);
      return false;
    }
    Instant since = usedSince.computeIfAbsent(site, first -> time);
    return Duration.between(since, time).toMillis() >= 1_000 * times.outlastedSeconds();
  }

  private void refute(String stack) {
    refuted.add(stack);
    forget(stack);
  }

  private void forget(String stack) {
    ofEarlierRuns.remove(stack);
    ofThisRun.remove(stack);
  }
}
