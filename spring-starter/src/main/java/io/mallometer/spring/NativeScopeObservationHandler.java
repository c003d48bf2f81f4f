package io.mallometer.spring;

import io.mallometer.Bracket;
import io.mallometer.model.NativeCounters;
import io.mallometer.spring.NativeScopeMeters.Gap;
import io.mallometer.spring.NativeScopeMeters.Scope;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Measures the native memory of requests and scheduled tasks. Spring opens a scope of the
 * observation wherever a thread works on it; the sum over these pieces is the value.
 */
final class NativeScopeObservationHandler implements ObservationHandler<Observation.Context> {

  static final String TASKS = "tasks.scheduled.execution";

  private final NativeScopeMeters meters;
  private final Set<String> names;

  /**
   * Makes a handler.
   *
   * @param requests the name of observations of requests
   */
  NativeScopeObservationHandler(NativeScopeMeters meters, String requests) {
    this.meters = meters;
    names = Set.of(requests, TASKS);
  }

  /** The pieces of one observation. */
  private static final class Pieces {
    private @Nullable Bracket open;
    private int depth;
    private double allocated;
    private double net;
    private boolean measured;
    private Gap gap = Gap.NO_THREAD;

    synchronized void begin(NativeScopeMeters meters) {
      if (depth++ == 0) {
        open = meters.begin();
      }
    }

    synchronized void end() {
      if (open == null || --depth > 0) {
        return;
      }
      Optional<NativeCounters> counted = open.unhook();
      open = null;
      if (counted.isPresent()) {
        allocated += counted.get().allocatedBytes();
        net += counted.get().liveBytes();
        measured = true;
      } else {
        gap = NativeScopeMeters.gapHere();
      }
    }

    synchronized void tell(NativeScopeMeters meters, Scope scope) {
      if (measured) {
        meters.add(scope, allocated, net);
      } else {
        meters.miss(scope, gap);
      }
    }
  }

  @Override
  public boolean supportsContext(Observation.Context context) {
    return names.contains(context.getName());
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

  @Override
  public void onStop(Observation.Context context) {
    Pieces pieces = context.get(Pieces.class);
    if (pieces != null) {
      pieces.tell(meters, scope(context));
    }
  }

  private static Scope scope(Observation.Context context) {
    return TASKS.equals(context.getName())
        ? Scope.named(value(context, "code.namespace") + "." + value(context, "code.function"))
        : new Scope("", value(context, "uri"), value(context, "method"));
  }

  private static String value(Observation.Context context, String key) {
    KeyValue value = context.getLowCardinalityKeyValue(key);
    return value == null ? "" : value.getValue();
  }
}
