package io.mallometer.internal.diagnosis;

import io.mallometer.internal.text.Log;
import io.mallometer.internal.text.Words;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.State;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The diagnosis as it stands: a state holds for a minute before a milder one takes its place, and a
 * change for the worse is logged. Knows when the start-up ends. Thread-safe.
 */
public final class HeldDiagnosis {

  /** Without an application that says when it has started, it has by then. */
  static final Duration START_UP = Duration.ofMinutes(2);

  /** An application that never says that it has started, has by then. */
  static final Duration LONGEST_START_UP = Duration.ofMinutes(10);

  private static final long HELD_NANOS = Duration.ofMinutes(1).toNanos();
  private static final long TOLD_NANOS = Duration.ofHours(1).toNanos();

  private final Instant started;

  private Diagnosis latest;

  /** When the latest state was last drawn, not only held. */
  private long drawnNanos;

  /** Whether it was ever healthy; before, nothing is milder than too early. */
  private boolean settled;

  /** When a state was logged. */
  private final Map<State, Long> told = new EnumMap<>(State.class);

  private Instant drawnTime;

  private boolean starting;
  private Optional<Instant> ended = Optional.empty();

  public HeldDiagnosis(Instant started) {
    this.started = started;
    this.drawnTime = started;
    this.latest = Diagnosis.none(started);
  }

  public Instant started() {
    return started;
  }

  /** Notes that the application starts, or has started. The first start counts. */
  public synchronized void starting(boolean begins, Instant now) {
    if (begins) {
      starting = ended.isEmpty();
    } else if (starting) {
      starting = false;
      ended = Optional.of(now);
    }
  }

  /** Returns when the start-up ended; empty before. */
  public synchronized Optional<Instant> startedUp(Instant now) {
    if (ended.isEmpty()) {
      Instant end = started.plus(starting ? LONGEST_START_UP : START_UP);
      return now.isBefore(end) ? Optional.empty() : Optional.of(end);
    }
    return ended;
  }

  /** Returns the diagnosis that stands after another was drawn. */
  public synchronized Diagnosis stands(Diagnosis drawn, long nanoTime) {
    boolean milder = drawn.state().compareTo(latest.state()) < 0;
    boolean first = !settled && latest.state() == State.TOO_EARLY;
    if (milder && !first && nanoTime - drawnNanos < HELD_NANOS) {
      latest = latest.with(drawn.limit(), drawn.previous());
      return held();
    }
    if (drawn.state().compareTo(latest.state()) > 0) {
      tell(drawn, nanoTime);
    }
    drawnTime = drawn.since();
    latest = drawn.state() == latest.state() ? drawn.since(latest.since()) : drawn;
    settled |= drawn.state() == State.HEALTHY;
    drawnNanos = nanoTime;
    return latest;
  }

  /** The latest, which says when it was the case. */
  private Diagnosis held() {
    return new Diagnosis(
        latest.state(),
        latest.since(),
        latest.sentence() + "; as of " + Words.minute(drawnTime),
        latest.actions(),
        latest.limit(),
        latest.previous(),
        latest.findings());
  }

  /** Once an hour for each state. */
  private void tell(Diagnosis drawn, long nanoTime) {
    Long before = told.get(drawn.state());
    if (before != null && nanoTime - before < TOLD_NANOS) {
      return;
    }
    told.put(drawn.state(), nanoTime);
    if (drawn.state() == State.ACT) {
      Log.MALLOMETER.warn("Native memory, act: " + drawn.sentence());
    } else if (drawn.state() == State.WATCH) {
      Log.MALLOMETER.info("Native memory, watch: " + drawn.sentence());
    }
  }
}
