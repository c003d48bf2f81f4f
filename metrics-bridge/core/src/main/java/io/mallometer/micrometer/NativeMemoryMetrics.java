package io.mallometer.micrometer;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Log;
import io.mallometer.meter.Meter;
import io.mallometer.model.Snapshot;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.Id;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.noop.NoopGauge;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Binds {@link Meter#all() all meters} to Micrometer registries.
 *
 * <p>Each meter reads the snapshot {@link Mallometer#scraped()}. A value may be known at one time
 * and unknown at another, for example because mallometer stops counting. So the binder adds and
 * removes meters after each poll.
 *
 * <p>A binder may be bound to any number of registries. A registry with two binders still has each
 * meter once. After one binder is closed, the other one adds the meters again at the next poll.
 * Micrometer has no meter for the histogram of request sizes: see {@link #requestSizeId}.
 */
public final class NativeMemoryMetrics implements MeterBinder, AutoCloseable {

  private static final Log LOG = Log.of(NativeMemoryMetrics.class);

  private final Mallometer mallometer;
  private final Tags tags;
  private final List<Meter> meters = Meter.all();

  /** The series of each of {@link #meters} in the snapshot that was last read. */
  private final List<List<Meter.Series>> current =
      new ArrayList<>(Collections.nCopies(meters.size(), List.of()));

  private final Map<MeterRegistry, Binding> bindings = new HashMap<>();
  private Mallometer.@Nullable Subscription subscription;
  private boolean closed;

  /** Creates a binder without tags of its own. */
  public NativeMemoryMetrics(Mallometer mallometer) {
    this(mallometer, Tags.empty());
  }

  /** Creates a binder that adds {@code tags} to every meter. */
  public NativeMemoryMetrics(Mallometer mallometer, Iterable<Tag> tags) {
    this.mallometer = mallometer;
    this.tags = Tags.of(tags);
  }

  /**
   * Registers the meters. Does nothing after {@link #close()}. Never throws: if a registry refuses
   * a meter, the failure is logged once, and the next poll tries again.
   */
  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    if (closed) {
      return;
    }
    if (subscription == null) {
      subscription = mallometer.onPoll(snapshot -> updateAll());
    }
    bindings.computeIfAbsent(registry, Binding::new);
    updateAll();
  }

  /** Removes the meters from all registries. A second call does nothing. */
  @Override
  public synchronized void close() {
    closed = true;
    if (subscription != null) {
      subscription.close();
      subscription = null;
    }
    bindings.values().forEach(Binding::removeAll);
    bindings.clear();
  }

  /**
   * Returns the name and tags that {@link Meter#REQUEST_SIZE} gets from the filters of a registry.
   * Code that publishes this histogram without Micrometer needs them.
   *
   * <p>Registers a gauge of that name for a moment, because Micrometer applies filters only then.
   *
   * @return empty if the filters deny the meter
   */
  public Optional<Id> requestSizeId(MeterRegistry registry) {
    Gauge probe =
        Gauge.builder(Meter.REQUEST_SIZE, () -> Double.NaN)
            .baseUnit("bytes")
            .tags(tags)
            .description(Meter.requestSizeDescription())
            .register(registry);
    registry.remove(probe);
    return probe instanceof NoopGauge ? Optional.empty() : Optional.of(probe.getId());
  }

  private synchronized void updateAll() {
    boolean changed = look(mallometer.snapshot());
    for (Binding binding : bindings.values()) {
      if (changed || !binding.complete || binding.disturbed) {
        binding.updateOrLog();
      }
    }
  }

  /** Stores the series of a snapshot. Returns whether their tags have changed. */
  private boolean look(Snapshot snapshot) {
    boolean changed = false;
    for (int i = 0; i < meters.size(); i++) {
      List<Meter.Series> series = meters.get(i).series(snapshot);
      if (!sameTags(series, current.get(i))) {
        current.set(i, series);
        changed = true;
      }
    }
    return changed;
  }

  private static boolean sameTags(List<Meter.Series> some, List<Meter.Series> others) {
    if (some == others) {
      return true;
    }
    if (some.size() != others.size()) {
      return false;
    }
    for (int i = 0; i < some.size(); i++) {
      if (!some.get(i).tags().equals(others.get(i).tags())) {
        return false;
      }
    }
    return true;
  }

  private final class Binding {

    private record Key(String name, List<Meter.Tag> tags) {}

    private final MeterRegistry registry;
    private final Map<Key, io.micrometer.core.instrument.Meter> registered = new HashMap<>();

    /** Whether the latest update of the registry succeeded. */
    private boolean complete;

    /**
     * Whether a meter was removed from the registry since the latest update. The next update then
     * restores missing meters.
     */
    private volatile boolean disturbed;

    private final Log.Once failure = LOG.once();

    Binding(MeterRegistry registry) {
      this.registry = registry;
      registry.config().onMeterRemoved(disturbing(new WeakReference<>(this)));
    }

    /** Updates the registry. Never throws, so that the other registries are updated too. */
    void updateOrLog() {
      complete = false;
      try {
        update();
        complete = true;
      } catch (RuntimeException | LinkageError e) {
        failure.warn("Some meters of native memory are missing in " + registry, e);
      }
    }

    private void update() {
      if (disturbed) {
        disturbed = false;
        registered.values().retainAll(Set.copyOf(registry.getMeters()));
      }
      Set<Key> wanted = new HashSet<>();
      for (int i = 0; i < meters.size(); i++) {
        Meter meter = meters.get(i);
        for (Meter.Series series : current.get(i)) {
          Key key = new Key(meter.name(), series.tags());
          wanted.add(key);
          registered.computeIfAbsent(key, absent -> register(meter, series));
        }
      }
      List<Key> vanished = new ArrayList<>(registered.keySet());
      vanished.removeAll(wanted);
      vanished.forEach(key -> registry.remove(registered.remove(key)));
    }

    void removeAll() {
      registered.values().forEach(registry::remove);
      registered.clear();
    }

    private io.micrometer.core.instrument.Meter register(Meter meter, Meter.Series series) {
      ToDoubleFunction<Mallometer> value =
          source -> series.figure().of(source.scraped(), source.clock());
      Tags all = tags.and(series.tags().stream().map(NativeMemoryMetrics::tag).toList());
      String unit = meter.unit().isEmpty() ? null : meter.unit();
      return switch (meter.type()) {
        case COUNTER ->
            FunctionCounter.builder(meter.name(), mallometer, value)
                .tags(all)
                .description(meter.description())
                .baseUnit(unit)
                .register(registry);
        case GAUGE ->
            Gauge.builder(meter.name(), mallometer, value)
                .tags(all)
                .description(meter.description())
                .baseUnit(unit)
                .strongReference(true)
                .register(registry);
      };
    }
  }

  /**
   * Returns a listener with only a weak reference to the binding, because a registry keeps its
   * listeners forever.
   */
  private static Consumer<io.micrometer.core.instrument.Meter> disturbing(
      WeakReference<Binding> binding) {
    return removed -> {
      Binding disturbed = binding.get();
      if (disturbed != null) {
        disturbed.disturbed = true;
      }
    };
  }

  private static Tag tag(Meter.Tag tag) {
    return Tag.of(tag.key(), tag.value());
  }
}
