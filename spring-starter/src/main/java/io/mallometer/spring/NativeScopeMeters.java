package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.model.ScopeCounts;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.DoubleAdder;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Meters of native memory by scope: an HTTP route, a scheduled task or an annotated method.
 * Thread-safe.
 *
 * <p>Each scope has four series: count, sum and maximum of the allocated bytes, and the net bytes
 * (allocated less freed) over all calls. Net bytes may fall, because a thread also frees other
 * threads' allocations. They are a gauge, because Micrometer's distributions take no negative
 * values.
 *
 * <p>The first scopes get series of their own; all further scopes share those with the name {@value
 * #OTHER}.
 */
final class NativeScopeMeters {

  static final String OTHER = "other";

  private static final Log logger = LogFactory.getLog(NativeScopeMeters.class);

  /**
   * A scope that is measured.
   *
   * @param scope the name of a method or scheduled task; empty for a request
   * @param uri the route of a request; empty for anything else
   * @param method the HTTP method of a request; empty for anything else
   */
  record Scope(String scope, String uri, String method) {

    private static final Scope REST = new Scope(OTHER, "", "");

    static Scope named(String name) {
      return new Scope(name, "", "");
    }

    @Override
    public String toString() {
      return scope.isEmpty() ? (method + " " + uri).strip() : scope;
    }

    private Tags tags() {
      return Tags.of("scope", scope, "uri", uri, "method", method);
    }
  }

  /** The reason why the native memory of a call is unknown. */
  enum Gap {
    /** A virtual thread changes its carrier, and native memory is counted for the carrier. */
    VIRTUAL_THREAD(
        "it ran on a virtual thread, and native memory is counted for the carrier thread, which"
            + " also serves others. To measure such calls, set spring.threads.virtual.enabled=false"),
    /** The library does not count. */
    NOT_COUNTED("nothing is counted; the endpoint nativememory says why, and what to do"),
    /**
     * The thread is unknown, as for a reactive request that no operator of Reactor bound to a
     * thread.
     */
    NO_THREAD(
        "no thread was bound to it. For reactive requests set"
            + " spring.reactor.context-propagation=auto");

    private final String reason;

    Gap(String reason) {
      this.reason = reason;
    }

    String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private record Meters(DistributionSummary allocated, DoubleAdder net) {}

  private final Mallometer.Counting counting;
  private final MeterRegistry registry;
  private final int most;
  private final Map<Scope, Meters> scopes = new ConcurrentHashMap<>();
  private final Map<Gap, Counter> gaps = new ConcurrentHashMap<>();
  private final AtomicBoolean scopesRefused = new AtomicBoolean();
  private final AtomicBoolean gapsRefused = new AtomicBoolean();

  /** The meters that all scopes beyond the limit share; null while there is no such scope. */
  private volatile @Nullable Meters rest;

  /**
   * Creates no meter yet: the meters of a scope are registered at its first call.
   *
   * @param most the largest number of scopes with series of their own
   */
  NativeScopeMeters(Mallometer mallometer, MeterRegistry registry, int most) {
    counting = mallometer.counting();
    this.registry = registry;
    this.most = most;
  }

  /** Begins to measure the calling thread. */
  NativeScope begin() {
    return counting.threadScope();
  }

  /** Ends a measurement of the calling thread and adds it to the scope's meters. */
  void end(Scope scope, NativeScope open) {
    Optional<ScopeCounts> counted = ended(open);
    if (counted.isPresent()) {
      add(scope, counted.get().allocatedBytes(), net(counted.get()));
    } else {
      miss(scope, gapOf(Thread.currentThread()));
    }
  }

  static Optional<ScopeCounts> ended(NativeScope open) {
    open.close();
    return open.figures().counts();
  }

  /**
   * Returns allocated less freed bytes. Below 0 if the thread frees allocations of other threads.
   */
  static double net(ScopeCounts counted) {
    return counted.allocatedBytes() - counted.freedBytes();
  }

  /** Returns why a thread cannot be measured. */
  static Gap gapOf(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    // Thread.isVirtual() came with JDK 21; all virtual threads are in this one group.
    return group != null && group.getName().equals("VirtualThreads")
        ? Gap.VIRTUAL_THREAD
        : Gap.NOT_COUNTED;
  }

  /** Adds one call. If the registry refuses the meters, logs this once and adds no more. */
  void add(Scope scope, double allocated, double net) {
    if (scopesRefused.get()) {
      return;
    }
    try {
      Meters meters = meters(scope);
      meters.allocated.record(allocated);
      meters.net.add(net);
    } catch (RuntimeException e) {
      refused(scopesRefused, "The native memory of calls", e);
    }
  }

  private static void refused(AtomicBoolean refused, String what, RuntimeException e) {
    if (refused.compareAndSet(false, true)) {
      logger.warn(what + " cannot be published: " + e);
    }
  }

  /** Counts a call of unknown native memory. Logs the first call for each reason. */
  void miss(Scope scope, Gap gap) {
    if (gapsRefused.get()) {
      return;
    }
    try {
      Counter counter = gaps.get(gap);
      if (counter == null) {
        counter = gaps.computeIfAbsent(gap, this::counter);
        logger.info("The native memory of a call (" + scope + ") is not known: " + gap.reason);
      }
      counter.increment();
    } catch (RuntimeException e) {
      refused(gapsRefused, "The number of calls whose native memory is not known", e);
    }
  }

  private Counter counter(Gap gap) {
    return Counter.builder("native.scope.unknown")
        .tag("reason", gap.tag())
        .description("Calls whose native memory is not known")
        .register(registry);
  }

  private Meters meters(Scope scope) {
    Meters own = scopes.get(scope);
    Meters known = own == null ? rest : own;
    return known == null ? register(scope) : known;
  }

  private synchronized Meters register(Scope scope) {
    if (scopes.containsKey(scope) || scopes.size() < most) {
      return scopes.computeIfAbsent(scope, this::registered);
    }
    Meters shared = scopes.computeIfAbsent(Scope.REST, this::registered);
    rest = shared;
    return shared;
  }

  private Meters registered(Scope scope) {
    DoubleAdder net = new DoubleAdder();
    Gauge.builder("native.scope.net", net, DoubleAdder::sum)
        .tags(scope.tags())
        .description("Native memory that calls allocated, less what they freed")
        .baseUnit(BaseUnits.BYTES)
        .register(registry);
    return new Meters(
        DistributionSummary.builder("native.scope.allocated")
            .tags(scope.tags())
            .description("Native memory that a call allocated")
            .baseUnit(BaseUnits.BYTES)
            .register(registry),
        net);
  }
}
