package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.symbol.StackFingerprint;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The stacks that were a leak in earlier runs, and what of this run the next shall know.
 *
 * <p>A stack stays known from run to run, also in runs that do not show whether it leaks. It is
 * forgotten when its leak is given up, when its objects are reused as those of a pool, when it is
 * acknowledged, and when none of its objects was idle for longer than the longest timeout. Sites
 * that are judged together have several stacks and are not remembered. Not thread-safe.
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

  /** What is to be recorded, the latest first. */
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
   * Learns from an evaluation.
   *
   * @param before the verdicts of the one before
   * @param now its verdicts
   */
  void learn(List<SiteVerdict> before, List<SiteVerdict> now, Instant time, Times times) {
    Set<Integer> leaking = new HashSet<>();
    for (SiteVerdict verdict : now) {
      boolean leak = verdict.verdict() == Verdict.LEAK;
      if (leak) {
        leaking.add(verdict.site().number());
      }
      boolean telling = leak || !ofEarlierRuns.isEmpty() || !ofThisRun.isEmpty();
      if (telling && verdict.site().stacks() == 1) {
        learn(verdict, time, times);
      }
    }
    for (SiteVerdict verdict : before) {
      if (verdict.verdict() == Verdict.LEAK && !leaking.contains(verdict.site().number())) {
        refute(StackFingerprint.of(verdict.site().frames()));
      }
    }
  }

  private void learn(SiteVerdict verdict, Instant time, Times times) {
    String stack = StackFingerprint.of(verdict.site().frames());
    if (verdict.acknowledged()) {
      forget(stack);
    } else if (verdict.verdict() == Verdict.LEAK) {
      convict(stack, verdict);
    } else if (verdict.verdict() == Verdict.POOL || isUsedForLong(verdict, time, times)) {
      refute(stack);
    }
  }

  private void convict(String stack, SiteVerdict leak) {
    LeakEvidence evidence = leak.grounds().evidence();
    if (evidence != LeakEvidence.KNOWN && !refuted.contains(stack)) {
      ofThisRun.put(stack, new KnownLeak(stack, leak.since(), evidence));
    }
  }

  private boolean isUsedForLong(SiteVerdict verdict, Instant time, Times times) {
    int site = verdict.site().number();
    boolean used =
        verdict.verdict() == Verdict.HEALTHY
            && verdict.grounds().evidence() == LeakEvidence.SLOTS
            && verdict.suspected().objects().value() == 0;
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
