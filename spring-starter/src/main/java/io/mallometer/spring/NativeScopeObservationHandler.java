package io.mallometer.spring;

import io.mallometer.NativeScope;
import io.mallometer.model.ScopeCounts;
import io.mallometer.spring.NativeScopeMeters.Gap;
import io.mallometer.spring.NativeScopeMeters.Scope;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Measures the native memory of requests and scheduled tasks. Several threads may work on one
 * observation; Spring opens a scope in each of them. The result is the sum over all these scopes.
 */
final class NativeScopeObservationHandler implements ObservationHandler<Observation.Context> {

  private static final List<Class<?>> TASKS =
      present("org.springframework.scheduling.support.ScheduledTaskObservationContext");

  private static final List<Class<?>> REQUESTS =
      present(
          "org.springframework.http.server.observation.ServerRequestObservationContext",
          "org.springframework.http.server.reactive.observation.ServerRequestObservationContext");

  private final NativeScopeMeters meters;

  NativeScopeObservationHandler(NativeScopeMeters meters) {
    this.meters = meters;
  }

  private static List<Class<?>> present(String... names) {
    List<Class<?>> types = new ArrayList<>();
    for (String name : names) {
      try {
        types.add(Class.forName(name, false, NativeScopeObservationHandler.class.getClassLoader()));
      } catch (ClassNotFoundException | LinkageError e) {
        // The application lacks the library that defines this type.
      }
    }
    return List.copyOf(types);
  }

  private static boolean isOne(List<Class<?>> types, Observation.Context context) {
    return types.stream().anyMatch(type -> type.isInstance(context));
  }

  /**
   * The measurement of one thread. It ends when the outermost of the thread's nested scopes closes.
   */
  private static final class Piece {
    private final NativeScope open;
    private int depth = 1;

    Piece(NativeScope open) {
      this.open = open;
    }
  }

  private static final class Pieces {
    private final Map<Thread, Piece> open = new IdentityHashMap<>(1);
    private double allocated;
    private double net;
    private boolean measured;
    private boolean stopped;
    private Gap gap = Gap.NO_THREAD;

    synchronized void begin(NativeScopeMeters meters) {
      Piece piece = open.get(Thread.currentThread());
      if (piece != null) {
        piece.depth++;
      } else if (!stopped) {
        open.put(Thread.currentThread(), new Piece(meters.begin()));
      }
    }

    synchronized void end() {
      Piece piece = open.get(Thread.currentThread());
      if (piece != null && --piece.depth == 0) {
        reset();
      }
    }

    /** Ends the calling thread's measurement, even if several of its scopes are open. */
    synchronized void reset() {
      Piece piece = open.remove(Thread.currentThread());
      if (piece != null) {
        add(Thread.currentThread(), piece);
      }
    }

    private void add(Thread thread, Piece piece) {
      Optional<ScopeCounts> counted = NativeScopeMeters.ended(piece.open);
      if (counted.isPresent()) {
        allocated += counted.get().allocatedBytes();
        net += NativeScopeMeters.net(counted.get());
        measured = true;
      } else {
        gap = NativeScopeMeters.gapOf(thread);
      }
    }

    /**
     * Ends the measurements of all threads and adds their sum to the meters. Later scopes of the
     * observation are not measured.
     */
    synchronized void tell(NativeScopeMeters meters, Scope scope) {
      stopped = true;
      open.forEach(this::add);
      open.clear();
      if (measured) {
        meters.add(scope, allocated, net);
      } else {
        meters.miss(scope, gap);
      }
    }
  }

  /**
   * Selects the observation by its type. The name of an observation is not yet known when its
   * handlers are selected.
   */
  @Override
  public boolean supportsContext(Observation.Context context) {
    return isOne(REQUESTS, context) || isOne(TASKS, context);
  }

  @Override
  public void onStart(Observation.Context context) {
    context.put(Pieces.class, new Pieces());
  }

  @Override
  public void onScopeOpened(Observation.Context context) {
    Pieces pieces = context.get(Pieces.class);
    if (pieces != null) {
      pieces.begin(meters);
    }
  }

  @Override
  public void onScopeClosed(Observation.Context context) {
    Pieces pieces = context.get(Pieces.class);
    if (pieces != null) {
      pieces.end();
    }
  }

  /**
   * Ends the thread's measurement, because a reset removes the thread's scopes without closing
   * them.
   */
  @Override
  public void onScopeReset(Observation.Context context) {
    Pieces pieces = context.get(Pieces.class);
    if (pieces != null) {
      pieces.reset();
    }
  }

  @Override
  public void onStop(Observation.Context context) {
    Pieces pieces = context.get(Pieces.class);
    if (pieces != null) {
      pieces.tell(meters, scope(context));
    }
  }

  private static Scope scope(Observation.Context context) {
    return isOne(TASKS, context)
        ? Scope.named(value(context, "code.namespace") + "." + value(context, "code.function"))
        : new Scope("", value(context, "uri"), value(context, "method"));
  }

  private static String value(Observation.Context context, String key) {
    KeyValue value = context.getLowCardinalityKeyValue(key);
    return value == null ? "" : value.getValue();
  }
}
