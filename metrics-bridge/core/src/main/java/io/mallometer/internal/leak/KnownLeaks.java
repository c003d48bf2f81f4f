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
 * The stacks that leaked in earlier runs, and the leaks of this run, which are recorded for later
 * runs. Not thread-safe.
 *
 * <p>A stack is forgotten in any of these cases:
 *
 * <ul>
 *   <li>Its verdict of a leak is given up.
 *   <li>Its verdict becomes {@link Verdict#POOL}, because other idle objects were used or freed.
 *   <li>The user acknowledges it.
 *   <li>It has had no idle object for five minutes longer than {@code leak.longest-timeout}.
 * </ul>
 *
 * <p>Stacks that are only judged together as a group are not recorded, because each has too few
 * idle samples.
 */
public final class KnownLeaks {

  private final Map<String, KnownLeak> ofEarlierRuns = new HashMap<>();

  private final Map<String, KnownLeak> ofThisRun = new HashMap<>();

  /** The fingerprints of stacks that are no leaks. No leak with such a stack is recorded. */
  private final Set<String> refuted = new HashSet<>();

  /** The moment since which a site has had no idle object, by the number of the site. */
  private final Map<Integer, Instant> usedSince = new HashMap<>();

  public void add(List<KnownLeak> recorded) {
    for (KnownLeak leak : recorded) {
      if (!refuted.contains(leak.stack()) && !ofThisRun.containsKey(leak.stack())) {
        ofEarlierRuns.put(leak.stack(), leak);
      }
    }
  }

  /** Returns the leaks to record, the latest first. */
  public List<KnownLeak> all() {
    return Stream.concat(
            ofThisRun.values().stream(),
            ofEarlierRuns.values().stream().filter(leak -> !ofThisRun.containsKey(leak.stack())))
        .sorted(Comparator.comparing(KnownLeak::time).reversed().thenComparing(KnownLeak::stack))
        .limit(KnownLeak.MOST)
        .toList();
  }

  @Nullable KnownLeak of(List<StackFrame> frames) {
    return ofEarlierRuns.isEmpty() ? null : ofEarlierRuns.get(StackFingerprint.of(frames));
  }

  /**
   * Updates the known leaks after an evaluation of a site: records or forgets the site's stack.
   *
   * @param state the state after the evaluation
   * @param acknowledged returns whether call sites with the given name are acknowledged
   */
  void learn(
      CallSite site,
      SiteState state,
      Predicate<String> acknowledged,
      Instant time,
      IdleLimits times) {
    boolean leak = state.isLeak();
    if (!leak && ofEarlierRuns.isEmpty() && ofThisRun.isEmpty()) {
      return;
    }
    String stack = StackFingerprint.of(site.frames());
    if (acknowledged.test(site.name())) {
      forget(stack);
    } else if (leak) {
      convict(stack, state);
    } else if (state.verdict() == Verdict.POOL
        || isUsedForLong(site.number(), state, time, times)) {
      refute(stack);
    }
  }

  /**
   * Forgets the stack of a site whose verdict of a leak was given up, and records no later leak
   * with this stack.
   */
  void refute(CallSite site) {
    refute(StackFingerprint.of(site.frames()));
  }

  private void convict(String stack, SiteState leak) {
    LeakEvidence evidence = leak.shown().leakEvidence();
    if (evidence != LeakEvidence.KNOWN && !refuted.contains(stack)) {
      ofThisRun.put(stack, new KnownLeak(stack, leak.since(), evidence));
    }
  }

  private boolean isUsedForLong(int site, SiteState state, Instant time, IdleLimits times) {
    SiteVerdict.Suspected idle = state.shown().suspected();
    boolean used =
        state.verdict() == Verdict.HEALTHY
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
