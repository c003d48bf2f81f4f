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

  private static final long HELD_NANOS = Duration.ofMinutes(5).toNanos();
  private static final long TOLD_NANOS = Duration.ofHours(1).toNanos();

  private final Instant started;

  private Diagnosis latest;

  /** The time at which each state was last drawn, in nanoseconds. */
  private final Map<State, Long> lastDrawn = new EnumMap<>(State.class);

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

  /** Returns the row that the latest sentence named first; empty if it named none. */
  public synchronized Optional<String> firstRow() {
    return latest.named().stream().findFirst();
  }

  /** Begins anew, as after an attach: the next diagnosis stands whatever it is. */
  public synchronized void anew() {
    latest = Diagnosis.none(drawnTime);
    lastDrawn.clear();
  }

  /**
   * Returns the diagnosis that stands after another was drawn. A graver state stands at once, a
   * milder one after five minutes in which no graver one was drawn, and too early never follows
   * another state.
   */
  public synchronized Diagnosis stands(Diagnosis drawn, long nanoTime) {
    if (latest.limit().bytes() > 0
        && Double.compare(latest.limit().bytes(), drawn.limit().bytes()) != 0) {
      anew();
    }
    lastDrawn.put(drawn.state(), nanoTime);
    if (isHeld(drawn.state(), nanoTime)) {
      boolean tooLong = latest.state() == State.ACT && wasNotDrawn(State.ACT, nanoTime);
      latest = (tooLong ? latest.in(State.WATCH) : latest).with(drawn.limit(), drawn.previous());
      return latest.saying(latest.sentence() + "; as of " + Words.minute(drawnTime));
    }
    if (drawn.state().compareTo(latest.state()) > 0) {
      tell(drawn, nanoTime);
    }
    drawnTime = drawn.since();
    latest = drawn.state() == latest.state() ? drawn.since(latest.since()) : drawn;
    return latest;
  }

  private boolean isHeld(State drawn, long nanoTime) {
    State was = latest.state();
    if (was == State.TOO_EARLY || drawn == was) {
      return false;
    }
    boolean milder = drawn.compareTo(was) < 0;
    return drawn == State.TOO_EARLY || milder && !wasNotDrawn(was, nanoTime);
  }

  private boolean wasNotDrawn(State state, long nanoTime) {
    return nanoTime - lastDrawn.getOrDefault(state, nanoTime) >= HELD_NANOS;
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
