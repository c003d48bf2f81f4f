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
 * <p>Each scope has the count, sum and maximum of the allocated bytes of its calls, and the net
 * bytes (allocated less freed). Net bytes are a gauge, because they may fall and Micrometer's
 * distributions take no negative values.
 *
 * <p>Scopes beyond the limit share the meters with the name {@value #OTHER}.
 */
final class NativeScopeMeters {

  static final String OTHER = "other";

  private static final Log logger = LogFactory.getLog(NativeScopeMeters.class);

  /**
   * The method, scheduled task or request whose memory is measured.
   *
   * @param scope the name of a method or scheduled task; empty for a request
   * @param uri the route of a request; otherwise empty
   * @param method the HTTP method of a request; otherwise empty
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

  enum Gap {
    /** A virtual thread changes its carrier, and native memory is counted for the carrier. */
    VIRTUAL_THREAD(
        "it ran on a virtual thread, and native memory is counted for the carrier thread, which"
            + " also serves others. To measure such calls, set spring.threads.virtual.enabled=false"),
    NOT_COUNTED("nothing is counted; the endpoint nativememory says why, and what to do"),
    /** No thread was bound to the call, for example to a reactive request. */
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

  /** The meters of all scopes beyond the limit; null until there is such a scope. */
  private volatile @Nullable Meters rest;

  /**
   * Creates no meters yet. A scope's meters are registered at its first call.
   *
   * @param most the largest number of scopes with meters of their own
   */
  NativeScopeMeters(Mallometer mallometer, MeterRegistry registry, int most) {
    counting = mallometer.counting();
    this.registry = registry;
    this.most = most;
  }

  NativeScope begin() {
    return counting.threadScope();
  }

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
   * Returns allocated less freed bytes, which may be negative, because a thread may free the
   * allocations of others.
   */
  static double net(ScopeCounts counted) {
    return counted.allocatedBytes() - counted.freedBytes();
  }

  static Gap gapOf(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    // Thread.isVirtual() needs JDK 21. All virtual threads are in this group.
    return group != null && group.getName().equals("VirtualThreads")
        ? Gap.VIRTUAL_THREAD
        : Gap.NOT_COUNTED;
  }

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

  /** Counts a call whose native memory is unknown. Logs the first call for each reason. */
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
