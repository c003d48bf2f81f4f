package io.mallometer.internal.monitor;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.OpenScope;
import io.mallometer.internal.text.Log;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.Phase;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.SizeDistribution;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The latest events of monitors, and the listeners for events. Also records phases: named periods
 * of the process, which follow one another. Thread-safe.
 */
public final class MonitorJournal {

  /** The largest number of stored events, and of stored phases. */
  static final int KEPT = 64;

  static final int LOGGED_A_MINUTE = 16;

  private record OpenPhase(
      String name, Instant begin, OpenScope scope, Optional<SizeDistribution> returned) {}

  private final NativeLibrary library;
  private final Clock clock;
  private final List<Consumer<MonitorEvent>> listeners = new CopyOnWriteArrayList<>();
  private final Log.Once failure = Log.MALLOMETER.once();

  /** The latest events. Guarded by this, like the fields below. */
  private final Deque<MonitorEvent> events = new ArrayDeque<>();

  private final Deque<Phase> phases = new ArrayDeque<>();
  private @Nullable OpenPhase current;
  private Instant minuteEnds = Instant.MIN;
  private int eventsInMinute;

  public MonitorJournal(NativeLibrary library, Clock clock) {
    this.library = library;
    this.clock = clock;
  }

  /**
   * Stores an event, passes it to the listeners, and logs it unless {@value #LOGGED_A_MINUTE}
   * events were logged in this minute.
   */
  public void publish(MonitorEvent event) {
    int number;
    synchronized (this) {
      keep(events, event);
      number = numberInMinute();
    }
    if (number <= LOGGED_A_MINUTE) {
      String lines =
          event.details().isEmpty() ? "" : "\n    " + String.join("\n    ", event.details());
      Log.MALLOMETER.warn("Monitor " + event.monitor() + ": " + event.sentence() + lines);
    } else if (number == LOGGED_A_MINUTE + 1) {
      Log.MALLOMETER.warn("Monitors: further events of this minute are not logged");
    }
    for (Consumer<MonitorEvent> listener : listeners) {
      tell(listener, event);
    }
  }

  private int numberInMinute() {
    Instant now = clock.instant();
    if (!now.isBefore(minuteEnds)) {
      minuteEnds = now.plusSeconds(60);
      eventsInMinute = 0;
    }
    return ++eventsInMinute;
  }

  private void tell(Consumer<MonitorEvent> listener, MonitorEvent event) {
    try {
      listener.accept(event);
    } catch (Throwable e) {
      failure.warn(
          "A listener of monitors threw an exception. It stays subscribed; further failures are not"
              + " logged.",
          e);
    }
  }

  private static <T> void keep(Deque<T> kept, T added) {
    if (kept.size() == KEPT) {
      kept.removeFirst();
    }
    kept.addLast(added);
  }

  public void subscribe(Consumer<MonitorEvent> listener) {
    listeners.add(listener);
  }

  public void unsubscribe(Consumer<MonitorEvent> listener) {
    listeners.remove(listener);
  }

  public synchronized List<MonitorEvent> events() {
    return List.copyOf(events);
  }

  public synchronized List<Phase> phases() {
    return List.copyOf(phases);
  }

  /**
   * Ends the current phase and begins the next.
   *
   * @param name the name of the next phase; if empty, none begins
   * @return the phase that ended, if any
   */
  public synchronized Optional<Phase> nextPhase(String name) {
    OpenPhase ending = current;
    current = null;
    Optional<Phase> ended = Optional.empty();
    if (ending != null) {
      ScopeFigures figures = orNone(ending.scope()::close);
      Phase phase =
          new Phase(
              ending.name(),
              ending.begin(),
              clock.instant(),
              figures,
              returnedSizes().flatMap(now -> ending.returned().map(now::minus)));
      keep(phases, phase);
      ended = Optional.of(phase);
    }
    if (!name.isEmpty()) {
      current = new OpenPhase(name, clock.instant(), open(), returnedSizes());
    }
    return ended;
  }

  /**
   * Returns the distribution of the allocations' usable sizes; empty while no monitor counts them.
   * Never throws.
   */
  public Optional<SizeDistribution> returnedSizes() {
    try {
      return library.returnedSizes();
    } catch (RuntimeException | LinkageError e) {
      return Optional.empty();
    }
  }

  private OpenScope open() {
    try {
      return library.processScope();
    } catch (RuntimeException | LinkageError e) {
      return OpenScope.none("the library cannot be called: " + e);
    }
  }

  private static ScopeFigures orNone(Supplier<ScopeFigures> reading) {
    try {
      return reading.get();
    } catch (RuntimeException | LinkageError e) {
      return ScopeFigures.none("the library cannot be called: " + e);
    }
  }
}
