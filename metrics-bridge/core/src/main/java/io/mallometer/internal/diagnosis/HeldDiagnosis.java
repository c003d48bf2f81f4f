package io.mallometer.internal.diagnosis;

import io.mallometer.internal.text.HumanText;
import io.mallometer.internal.text.Log;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.Diagnosis.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Holds the diagnosis in force. A diagnosis with a graver state takes effect immediately and is
 * logged. A diagnosis with a milder state takes effect only after five minutes. Also determines the
 * end of the start-up. Thread-safe.
 */
public final class HeldDiagnosis {

  static final Duration START_UP = Duration.ofMinutes(2);

  /** The longest start-up that is announced by {@link #starting}. */
  static final Duration LONGEST_START_UP = Duration.ofMinutes(10);

  private static final long HELD_NANOS = Duration.ofMinutes(5).toNanos();

  /** TOO_EARLY becomes HEALTHY when every new diagnosis was HEALTHY for this time. */
  private static final long HEALTHY_DELAY_NANOS = Duration.ofMinutes(2).toNanos();

  private static final String CHANGED = "Too early to tell: the limit or the counting has changed";

  private static final long LOG_PAUSE_NANOS = Duration.ofHours(1).toNanos();

  private final Instant started;

  private Diagnosis latest;

  /**
   * The latest new diagnosis with the state WATCH. It replaces a diagnosis with the state ACT when
   * no new diagnosis had the state ACT for five minutes.
   */
  private Diagnosis watch;

  /** The time in nanoseconds at which a new diagnosis last had each state. */
  private final Map<State, Long> lastDrawn = new EnumMap<>(State.class);

  /** The time at which each state was last logged, in nanoseconds. */
  private final Map<State, Long> lastLogged = new EnumMap<>(State.class);

  private final Map<String, Double> limits = new HashMap<>();

  private Instant drawnTime;

  private boolean starting;
  private Optional<Instant> ended = Optional.empty();

  public HeldDiagnosis(Instant started) {
    this.started = started;
    this.drawnTime = started;
    this.latest = Diagnosis.none(started);
    this.watch = latest;
  }

  public Instant started() {
    return started;
  }

  /** Records that the application begins to start, or has started. Only the first start counts. */
  public synchronized void starting(boolean begins, Instant now) {
    if (begins) {
      starting = ended.isEmpty();
    } else if (starting) {
      starting = false;
      ended = Optional.of(now);
    }
  }

  /** Returns the moment at which the start-up ended; empty before it. */
  public synchronized Optional<Instant> startedUp(Instant now) {
    if (ended.isEmpty()) {
      Instant end = started.plus(starting ? LONGEST_START_UP : START_UP);
      return now.isBefore(end) ? Optional.empty() : Optional.of(end);
    }
    return ended;
  }

  public synchronized Diagnosis latest() {
    return latest;
  }

  /**
   * Resets the state to TOO_EARLY, for example after an attach, because earlier readings cannot be
   * compared with new ones.
   */
  public synchronized void reset() {
    latest = latest.held(State.TOO_EARLY, drawnTime, CHANGED, List.of(), List.of());
  }

  /**
   * Adds a new diagnosis and returns the diagnosis in force:
   *
   * <ul>
   *   <li>A state that is graver than the state in force takes effect immediately.
   *   <li>A milder state, except TOO_EARLY, takes effect when all new diagnoses of the last five
   *       minutes had this state or milder ones. HEALTHY replaces TOO_EARLY already after two
   *       minutes.
   *   <li>TOO_EARLY replaces no other state, but after five minutes it turns ACT into WATCH.
   * </ul>
   */
  public synchronized Diagnosis update(Diagnosis drawn, long nanoTime) {
    if (isLimitChanged(drawn.limit())) {
      reset();
    }
    lastDrawn.put(drawn.state(), nanoTime);
    if (drawn.state() == State.WATCH) {
      watch = drawn;
    }
    if (isHeld(drawn.state(), nanoTime)) {
      boolean lately = drawnLately(latest.state(), nanoTime);
      if (!lately && latest.state() == State.ACT && drawnLately(State.WATCH, nanoTime)) {
        drawnTime = watch.since();
        latest = watch.since(drawn.since());
      } else if (!lately && drawn.state() == State.TOO_EARLY) {
        return stillTooEarly(drawn);
      }
      return held(drawn);
    }
    if (drawn.state().compareTo(latest.state()) > 0) {
      log(drawn, nanoTime);
    }
    drawnTime = drawn.since();
    latest = drawn.state() == latest.state() ? drawn.since(latest.since()) : drawn;
    return latest;
  }

  /**
   * Returns whether the limit has changed. The first limit is not a change. {@code limits} contains
   * the limits since the latest change: the key is the source, and the value is the limit in bytes.
   *
   * <ul>
   *   <li>If {@code limits} contains the source, the limit has changed if the value differs.
   *   <li>If {@code limits} lacks the source, the limit has changed if this source or one in {@code
   *       limits} is {@code MACHINE}, which means that no limit is set.
   *   <li>Otherwise the limit has not changed: several limits may be set, and another one may
   *       merely have become the nearest.
   * </ul>
   */
  private boolean isLimitChanged(Limit limit) {
    if (!(limit.bytes() > 0)) {
      return false;
    }
    Double before = limits.get(limit.source());
    boolean machine = limit.source().equals(Limit.MACHINE) || limits.containsKey(Limit.MACHINE);
    boolean isNew =
        before == null ? machine && !limits.isEmpty() : before.doubleValue() != limit.bytes();
    if (isNew) {
      limits.clear();
    }
    limits.put(limit.source(), limit.bytes());
    return isNew;
  }

  /**
   * Returns a diagnosis with the numbers of {@code drawn}, and with the state and the sentence of
   * the diagnosis in force. If that sentence names no part of memory, the part with most of the
   * growth is added to the sentence.
   */
  private Diagnosis held(Diagnosis drawn) {
    String asOf = "as of " + HumanText.minute(drawnTime);
    String lasting = Headline.withoutForecast(latest.sentence());
    List<String> parts = new ArrayList<>(List.of(lasting.split("; ")));
    parts.add(1, asOf);
    boolean nameless = latest.state().compareTo(State.TOO_EARLY) > 0 && latest.named().isEmpty();
    List<String> named = new ArrayList<>(latest.named());
    drawn
        .account()
        .filter(account -> nameless)
        .flatMap(Headline::mostOf)
        .ifPresent(
            row -> {
              parts.add("mostly " + Headline.place(row));
              named.add(row.name());
            });
    return drawn.held(
        latest.state(),
        latest.since(),
        Headline.join("", "; ", parts),
        latest.actions().stream()
            .map(action -> action.startsWith(DiagnosisRules.SAVE) ? DiagnosisRules.SAVE : action)
            .toList(),
        named);
  }

  /**
   * Returns a diagnosis with the state in force, and with the reasons why the new diagnosis is
   * TOO_EARLY. The state ACT becomes WATCH.
   */
  private Diagnosis stillTooEarly(Diagnosis early) {
    drawnTime = early.since();
    boolean wasAct = latest.state() == State.ACT;
    latest =
        early.held(
            wasAct ? State.WATCH : latest.state(),
            wasAct ? early.since() : latest.since(),
            DiagnosisRules.reasons(early),
            List.of(),
            List.of());
    return latest;
  }

  private boolean isHeld(State drawn, long nanoTime) {
    State was = latest.state();
    if (drawn == was) {
      return false;
    }
    if (drawn == State.HEALTHY) {
      long needed = was == State.TOO_EARLY ? HEALTHY_DELAY_NANOS : HELD_NANOS;
      return lastDrawn.entrySet().stream()
          .filter(other -> other.getKey() != State.HEALTHY)
          .anyMatch(other -> nanoTime - other.getValue() < needed);
    }
    return drawn == State.TOO_EARLY || drawn.compareTo(was) < 0 && drawnLately(was, nanoTime);
  }

  private boolean drawnLately(State state, long nanoTime) {
    Long drawn = lastDrawn.get(state);
    return drawn != null && nanoTime - drawn < HELD_NANOS;
  }

  private void log(Diagnosis drawn, long nanoTime) {
    Long before = lastLogged.get(drawn.state());
    if (before != null && nanoTime - before < LOG_PAUSE_NANOS) {
      return;
    }
    lastLogged.put(drawn.state(), nanoTime);
    if (drawn.state() == State.ACT) {
      Log.MALLOMETER.warn("Native memory, act: " + drawn.sentence());
    } else if (drawn.state() == State.WATCH) {
      Log.MALLOMETER.info("Native memory, watch: " + drawn.sentence());
    }
  }
}
