package io.mallometer;

import io.mallometer.internal.engine.Engine;
import io.mallometer.internal.engine.Poller;
import io.mallometer.internal.engine.Sources;
import io.mallometer.internal.leak.NewLeakNotifier;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.OpenScope;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.internal.monitor.AutomaticTrim;
import io.mallometer.internal.monitor.BuiltInMonitors;
import io.mallometer.internal.monitor.HugeAllocationWatch;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.text.Log;
import io.mallometer.model.CallSites;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.Grouping;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.HugeAllocationListener;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.Phase;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.TerminationMessage;
import io.mallometer.model.TrimReport;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Native memory of this process, as the library counts it.
 *
 * <pre>{@code
 * try (Mallometer mallometer = Mallometer.open()) {
 *   mallometer.snapshot().process()
 *       .ifPresentOrElse(
 *           counted -> System.out.println(counted.liveBytes() + " live bytes"),
 *           () -> System.out.println(mallometer.status()));
 * }
 * }</pre>
 *
 * <p>Thread-safe. No method throws for an absent library: {@link #status()} has the reason and the
 * remedy. While any instance is open, one daemon thread shared by all of them polls the library.
 * Tests of code that takes an instance use {@link FakeMallometer}.
 */
public class Mallometer implements AutoCloseable {

  /** Holds the engine that all instances share, because a process has one set of counters. */
  private static final class Shared {
    static final Engine ENGINE =
        new Engine(
            Sources.of(new ProcessLibrary(), MemorySource.ofThisProcess(), Clock.systemUTC()));

    static {
      if (Checkpoints.possible()) {
        Checkpoints.around(ENGINE.poller()::suspend, ENGINE.poller()::resume);
      }
    }
  }

  private static final String ON_A_VIRTUAL_THREAD =
      "a virtual thread has no counters of its own: its carrier thread, which changes, has them";

  private static final AtomicInteger OPEN = new AtomicInteger();

  private final Engine engine;
  private final Poller poller;
  private final Poller.Lease lease;
  private final Counting counting = new Counting();
  private final Sites sites = new Sites();
  private final Leaks leaks = new Leaks();
  private final Allocator allocator = new Allocator();
  private final History history = new History();
  private final Monitors monitors = new Monitors();

  /** The monitors that are not closed yet; guarded by {@link #subscribers}. */
  private final Set<BuiltInMonitors.RunningMonitor> running = new HashSet<>();

  /** Listeners for the events of monitors; guarded by {@link #subscribers}. */
  private final Set<Consumer<MonitorEvent>> monitorListeners = new HashSet<>();

  /** The open subscriptions of this instance. Guarded by this set, as is {@link #closed}. */
  private final Set<Poller.Subscriber> subscribers = new HashSet<>();

  private boolean closed;

  Mallometer(Engine engine, Optional<MallometerOptions> options) {
    this.engine = engine;
    this.poller = engine.poller();
    this.lease = poller.acquire(options);
    OPEN.incrementAndGet();
  }

  /**
   * Opens an instance with the options of another open instance, or else with {@link
   * MallometerOptions#defaults()}. Never throws for an absent or unreachable library.
   */
  public static Mallometer open() {
    return new Mallometer(ofThisProcess(), Optional.empty());
  }

  /**
   * Opens an instance. A process has one configuration: the options of the first open instance
   * apply until that instance is closed. Other options are logged at level WARNING and apply only
   * afterwards. Never throws for an absent or unreachable library.
   */
  public static Mallometer open(MallometerOptions options) {
    return new Mallometer(ofThisProcess(), Optional.of(options));
  }

  /**
   * Returns whether native allocations were counted at the latest poll, or why not and what to do.
   */
  public Status status() {
    return snapshot().status();
  }

  /** Returns the latest poll's reading. Takes no lock and makes no native call. */
  public Snapshot snapshot() {
    return poller.latest();
  }

  /**
   * Returns a snapshot for code that reads values one by one, such as a scrape. Successive calls on
   * one thread return the same snapshot for at most 5 s. A newer one is returned once the thread
   * has called {@link #poll()} or has made no call for 250 ms.
   */
  public Snapshot scraped() {
    return poller.scraped();
  }

  /**
   * Reads the counters into a new snapshot, which becomes the latest. If the reading fails, returns
   * the previous snapshot, whose {@link Snapshot#time()} has not changed.
   */
  public Snapshot poll() {
    return orElse(poller::poll, poller::latest);
  }

  /**
   * Reports that the application's start begins ({@code true}) or has ended ({@code false}). Growth
   * is measured from the end of the start. Without this call, growth is measured from two minutes
   * after the start of the JVM. Only the first start of a process counts.
   */
  public void starting(boolean begins) {
    engine.starting(begins);
  }

  /**
   * Calls {@code listener} after each poll, on the thread that polled, until the subscription or
   * this instance is closed. Has no effect on a closed instance. The first exception of a listener
   * is logged. Without the library, no background thread polls; only calls of {@link #poll()} do.
   */
  public Subscription onPoll(Consumer<Snapshot> listener) {
    Poller.Subscriber subscriber = new Poller.Subscriber(listener);
    synchronized (subscribers) {
      if (!closed) {
        subscribers.add(subscriber);
        poller.subscribe(subscriber);
      }
    }
    return () -> unsubscribe(subscriber);
  }

  /** Returns the clock that {@link Snapshot#time()} is taken from. */
  public Clock clock() {
    return engine.clock();
  }

  /** Returns the operations that begin and end counting, and measure pieces of work. */
  public Counting counting() {
    return counting;
  }

  /** Returns the call sites. */
  public Sites sites() {
    return sites;
  }

  /** Returns the verdicts on call sites. */
  public Leaks leaks() {
    return leaks;
  }

  /** Returns the operations on the allocator. */
  public Allocator allocator() {
    return allocator;
  }

  /**
   * Returns class metadata by class loader, also without the library. A reading pauses the program
   * for about a microsecond for each class and each loader. A reading that may pause the program
   * for more than 20 ms is refused, and the result has the reason. A result is reused for 30 s.
   */
  public ClassLoaders classLoaders() {
    return engine.loaders().read();
  }

  /** Returns the monitors, and the phases (named periods) of the process. */
  public Monitors monitors() {
    return monitors;
  }

  /** Returns the history: the last hour, and the previous run. */
  public History history() {
    return history;
  }

  /**
   * Closes this instance and its subscriptions. The poller stops when the last instance closes. The
   * latest snapshot, {@link #poll()} and scopes continue to work. A second call does nothing.
   *
   * <p>Outputs such as JMX are closed by the code that opened them, before or after the instance.
   * An output that stays open shows the latest snapshot, whose {@link Snapshot#age age} grows.
   */
  @Override
  public void close() {
    synchronized (subscribers) {
      if (closed) {
        return;
      }
      closed = true;
      subscribers.forEach(poller::unsubscribe);
      subscribers.clear();
    }
    monitors.close();
    synchronized (subscribers) {
      monitorListeners.forEach(engine.monitorBook()::unsubscribe);
      monitorListeners.clear();
    }
    OPEN.decrementAndGet();
    poller.release(lease);
  }

  /**
   * Returns whether an instance is open in this class loader. The agent calls this method by name.
   */
  static boolean isAnyOpen() {
    return OPEN.get() > 0;
  }

  static Engine ofThisProcess() {
    return Shared.ENGINE;
  }

  private void unsubscribe(Poller.Subscriber subscriber) {
    synchronized (subscribers) {
      subscribers.remove(subscriber);
      poller.unsubscribe(subscriber);
    }
  }

  private Subscription andOnPoll(Consumer<Snapshot> watch, Runnable end) {
    Subscription polls = onPoll(watch);
    watch.accept(snapshot());
    return () -> {
      polls.close();
      end.run();
    };
  }

  private static <T> T orElse(Supplier<T> reading, Supplier<T> otherwise) {
    try {
      return reading.get();
    } catch (RuntimeException | LinkageError e) {
      return otherwise.get();
    }
  }

  private static String unreadable(Throwable cause) {
    return "the call sites cannot be read: " + cause;
  }

  static NativeScope threadScope(Engine engine, ScopeOptions options) {
    return isVirtual(Thread.currentThread())
        ? new NativeScope(OpenScope.none(ON_A_VIRTUAL_THREAD))
        : opened(() -> engine.library().threadScope(options));
  }

  /** Returns whether a thread is virtual, by its group: {@code Thread.isVirtual()} needs JDK 21. */
  private static boolean isVirtual(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    return group != null && group.getName().equals("VirtualThreads");
  }

  private static NativeScope opened(Supplier<OpenScope> opening) {
    try {
      return new NativeScope(opening.get());
    } catch (RuntimeException | LinkageError e) {
      return new NativeScope(OpenScope.none("the library cannot be called: " + e));
    }
  }

  /** A subscription, which can be ended. */
  @FunctionalInterface
  public interface Subscription extends AutoCloseable {
    /** Ends the subscription. A second call does nothing. */
    @Override
    void close();

    /**
     * Returns why the subscription reports less than requested, for example because the library has
     * no place for a monitor; empty if it reports everything.
     */
    default String reason() {
      return "";
    }
  }

  /** Attaching to this process, and measuring pieces of work. */
  public final class Counting {

    private Counting() {}

    /**
     * Begins to count in a JVM that was started without the library. Does nothing if a library
     * counts already. Only the sum of earlier allocations is known. Counting continues until {@link
     * #detach} or the end of the process, even after this instance is closed.
     *
     * <p>Takes up to half a second, most of it for JNA's start: call this method on a thread that
     * no other thread waits for. Never throws: after a refusal the process is unchanged, and the
     * status has the reason. {@code MALLOMETER_ATTACH=off} in the environment forbids attaching.
     *
     * @return the status afterwards
     */
    public Status attach() {
      return orElse(poller::attach, Mallometer.this::status);
    }

    /**
     * Ends the counting that {@link #attach} began, for the whole process. The counters are unknown
     * afterwards. A preloaded library continues to count.
     *
     * @return the status afterwards
     */
    public Status detach() {
      return orElse(poller::detach, Mallometer.this::status);
    }

    /** Opens a scope over the calling thread, with {@link ScopeOptions#defaults()}. */
    public NativeScope threadScope() {
      return threadScope(ScopeOptions.defaults());
    }

    /**
     * Opens a scope over the calling thread. A virtual thread cannot be measured, because the
     * counters belong to its carrier thread, which may change. A scope on a virtual thread has
     * empty figures with this reason.
     */
    public NativeScope threadScope(ScopeOptions options) {
      return Mallometer.threadScope(engine, options);
    }

    /** Opens a scope over the whole process, with {@link ScopeOptions#defaults()}. */
    public NativeScope processScope() {
      return opened(() -> engine.library().processScope());
    }

    /**
     * Returns an executor that measures each of its tasks, on whichever platform thread the task
     * runs.
     */
    public ScopedExecutor across(Executor executor, ScopeOptions options) {
      return new ScopedExecutor(executor, () -> threadScope(options));
    }

    /** Returns an executor that measures each task, with {@link ScopeOptions#defaults()}. */
    public ScopedExecutor across(Executor executor) {
      return across(executor, ScopeOptions.defaults());
    }

    /**
     * Opens a scope over the whole process, as {@link #processScope()} does. {@link
     * NativeScope#unhook()} closes it and returns its figures.
     */
    public NativeScope hook() {
      return processScope();
    }
  }

  /** The call sites. No method throws: a reading that fails is empty and has the reason. */
  public final class Sites {

    private Sites() {}

    /**
     * Returns the allocated and the live memory of each call site. Takes milliseconds; a reading
     * that is less than a second old is returned again.
     */
    public CallSites read() {
      try {
        return engine.callSites().callSites();
      } catch (RuntimeException | LinkageError e) {
        return CallSites.none(clock().instant(), unreadable(e));
      }
    }

    /**
     * Returns the resident set, divided by the origin of the memory: call sites of mappings, call
     * sites of malloc, files, and other kinds of memory. The polling thread takes the reading; this
     * method waits for it, at most ten seconds. A reading is reused for at least a second.
     */
    public ResidentStacks resident() {
      try {
        return engine.resident().read();
      } catch (RuntimeException | LinkageError e) {
        return new ResidentStacks(clock().instant(), 0, List.of(), unreadable(e));
      }
    }

    /**
     * Samples nearly every allocation until the result is closed, which makes the values of call
     * sites nearly exact. Each allocation of the process then takes some microseconds more: use
     * this in tests and for short times.
     */
    public CloseLook closely() {
      return new CloseLook(engine.library());
    }

    /**
     * Returns the changes of the call sites between two moments of the last hour; {@code to} may be
     * the present. Each moment is replaced by the nearest stored reading, which may be at most two
     * minutes away. A reading is stored every 15 s for the last ten minutes, and every minute for
     * the time before. If {@code from} is before the first reading, the changes begin with the
     * first reading.
     */
    public SiteChanges changes(Instant from, Instant to) {
      try {
        return engine.callSites().changes(from, to);
      } catch (RuntimeException | LinkageError e) {
        return SiteChanges.none(unreadable(e));
      }
    }

    /**
     * Returns the changes of the call sites during a period that ends at {@code now}. The period
     * begins at a stored reading, which is chosen as in {@link #changes(Instant, Instant)}.
     * However, a reading in the second half of the wanted period is used only if no older reading
     * is stored. The result has the time of the chosen reading. Takes no new reading.
     *
     * @param over the wanted length of the period
     * @param now the result of {@link #read()}
     */
    public SiteChanges changes(Duration over, CallSites now) {
      try {
        return engine.callSites().changes(over, now);
      } catch (RuntimeException | LinkageError e) {
        return SiteChanges.none(unreadable(e));
      }
    }

    /**
     * Returns the call sites as they were when {@code moment} last occurred, for example at the
     * peak. The result has at most 2,048 sites: those with the most live bytes and those with the
     * most allocated bytes. If the moment has not occurred, the result is empty and has a reason.
     */
    public CallSites at(KeptMoment moment) {
      try {
        return engine.profiles().at(moment);
      } catch (RuntimeException | LinkageError e) {
        return CallSites.none(clock().instant(), unreadable(e));
      }
    }

    /**
     * Returns the live bytes of groups of call sites in the last hour: the groups with the most
     * live bytes, and the groups that grew most. The latest reading is at most 15 s old, or at most
     * 30 s if readings are expensive.
     *
     * @param most the number of groups of each kind
     */
    public SiteTrends trends(Grouping grouping, int most) {
      try {
        return engine.callSites().trends(grouping, most);
      } catch (RuntimeException | LinkageError e) {
        return new SiteTrends(List.of(), List.of(), unreadable(e));
      }
    }
  }

  /** A period in which nearly every allocation is sampled. */
  public final class CloseLook implements AutoCloseable {
    private final NativeLibrary library;
    private final AtomicBoolean ended = new AtomicBoolean();

    CloseLook(NativeLibrary library) {
      this.library = library;
      library.sampleClosely(true);
    }

    /**
     * Takes a new reading of the call sites, without the ages of their memory. Never throws: a
     * reading that fails has the reason.
     */
    public CallSites read() {
      try {
        return library.callSites(clock().instant(), List.of(), true);
      } catch (RuntimeException | LinkageError e) {
        return CallSites.none(clock().instant(), unreadable(e));
      }
    }

    /** Ends the period. Sampling returns to its usual rate when every period has ended. */
    @Override
    public void close() {
      if (ended.compareAndSet(false, true)) {
        library.sampleClosely(false);
      }
    }
  }

  /** The verdicts on call sites. */
  public final class Leaks {

    private Leaks() {}

    /**
     * Returns the latest verdicts. Call sites are judged every 15 s, or as rarely as once a minute
     * if this would use more than 0.1 % of a processor.
     */
    public LeakReport report() {
      Status status = status();
      return status.active()
          ? engine.leaks().latest()
          : LeakReport.none(clock().instant(), status.reason());
    }

    /**
     * Marks all call sites of a name as acknowledged, whatever their verdict, or removes this mark.
     * An acknowledged call site causes no notification or warning. The mark applies to all
     * instances until the process ends. With {@link Setting#LEAK_ACKNOWLEDGED_SITES_FILE}, it also
     * applies to later processes.
     *
     * @param site the name; a name that ends in {@code *} is a prefix
     */
    public void acknowledge(String site, boolean acknowledged) {
      engine.leaks().acknowledge(site, acknowledged);
    }

    /**
     * Calls {@code listener} for each site that is or becomes a leak, until the subscription or the
     * instance is closed. A site that becomes a leak again is reported again. The first exception
     * of a listener is logged.
     */
    public Subscription onLeak(Consumer<SiteVerdict> listener) {
      NewLeakNotifier news = new NewLeakNotifier(this::report, listener, engine.listenerThread());
      return andOnPoll(news, news::close);
    }

    /**
     * Searches the Java heap for the objects that hold sampled live memory of a call site. Runs on
     * the calling thread. Each walk over the heap pauses the program, for about a second or more
     * per GiB. A walk that may exceed {@link Setting#OWNERS_MAX_PAUSE} is refused with the reason.
     *
     * @param site the call site's number
     * @param links the number of references to follow from these objects to the objects that keep
     *     them alive, 0 to 8; each reference takes another walk
     */
    public OwnerReport owners(int site, int links) {
      return engine.owners().search(site, links);
    }

    /** Searches as {@link #owners(int, int)} does, with the given limits on pauses. */
    public OwnerReport owners(int site, int links, OwnerBudget budget) {
      return engine.owners().search(site, links, budget);
    }

    /** Forecasts a search: the pause of its first walk, and the reason if it would be refused. */
    public OwnerReport.Outlook ownerOutlook() {
      return engine.owners().outlook();
    }

    /** Returns the report of the latest search that was done; empty if there is none. */
    public Optional<OwnerReport> latestOwners() {
      return engine.owners().latest();
    }
  }

  /** The allocator of this process. */
  public final class Allocator {

    private Allocator() {}

    /**
     * Asks the allocator to return retained memory to the operating system. Takes up to several
     * seconds on the calling thread. A thread that allocates waits while its arena is trimmed.
     * Refused if the latest trim is less than {@link Setting#TRIM_MINIMUM_INTERVAL} ago; trims by a
     * copy of mallometer in another class loader do not count. A new snapshot is read after a trim.
     */
    public TrimReport trim() {
      TrimReport report = engine.trim();
      if (report.outcome() == TrimReport.Outcome.DONE) {
        poll();
      }
      return report;
    }

    /**
     * Returns the latest reading of the memory pools of other libraries, such as Netty's; empty if
     * none was found. Pools are read once a minute. A call of this method shortens the present
     * interval to ten seconds. Expensive readings lengthen an interval, to at most two minutes.
     */
    public Optional<PoolReport> pools() {
      engine.pools().ask();
      return snapshot().pools();
    }

    /**
     * Checks at an interval whether a trim would return at least {@code leastShare} of the resident
     * set, and trims if it would, until the subscription is closed. Each trim is logged at level
     * INFO. {@link Setting#TRIM_MINIMUM_INTERVAL} also applies to these trims.
     *
     * @param leastShare 0 to 1
     */
    public Subscription trimEvery(Duration interval, double leastShare) {
      AutomaticTrim trims =
          new AutomaticTrim(Mallometer.this::snapshot, this::trim, interval, leastShare);
      trims.start();
      return trims::close;
    }

    /**
     * Calls {@code listener} once for each request above {@link SelfReport#hugeThresholdBytes()},
     * until the subscription or the instance is closed. Earlier requests that the library still
     * stores are reported too. Reports at most 64 requests a second, and the number of requests
     * that it leaves out. The first exception of a listener is logged.
     */
    public Subscription onHugeAllocation(HugeAllocationListener listener) {
      HugeAllocationWatch watch =
          new HugeAllocationWatch(listener, engine.listenerThread(), engine.nanoTime());
      return andOnPoll(watch, watch::close);
    }
  }

  /**
   * The ready-made monitors. No Java code runs inside an allocation: the library counts, and each
   * poll evaluates the counts. An event therefore arrives up to a poll interval after its cause.
   * Each event is logged at level WARNING, stored, and passed to listeners. No monitor aborts the
   * program.
   */
  public final class Monitors {

    private Monitors() {}

    /**
     * Starts a monitor, which runs until the subscription or this instance is closed. A {@link
     * MonitorOptions#threshold} monitor reports large requests for memory. When it is closed, the
     * closing thread first reports the large requests that no poll has reported yet.
     */
    public Subscription start(MonitorOptions monitor) {
      BuiltInMonitors.RunningMonitor started = BuiltInMonitors.of(monitor, engine.monitorParts());
      synchronized (subscribers) {
        if (closed) {
          return () -> {};
        }
        running.add(started);
      }
      Subscription polls = andOnPoll(started, () -> end(started));
      return new Subscription() {
        @Override
        public void close() {
          polls.close();
        }

        @Override
        public String reason() {
          return started.reason();
        }
      };
    }

    /**
     * Calls {@code listener} for each event of any monitor of the process, until the subscription
     * or this instance is closed. It does not matter which instance started the monitor. The
     * listener runs on a thread that mallometer uses only for listeners. The first exception of a
     * listener is logged.
     */
    public Subscription onEvent(Consumer<MonitorEvent> listener) {
      Consumer<MonitorEvent> own = listener::accept;
      synchronized (subscribers) {
        if (!closed) {
          monitorListeners.add(own);
          engine.monitorBook().subscribe(own);
        }
      }
      return () -> {
        synchronized (subscribers) {
          monitorListeners.remove(own);
          engine.monitorBook().unsubscribe(own);
        }
      };
    }

    /**
     * Returns the number of the process's allocations by usable size. Allocations are counted while
     * a monitor with {@link MonitorOptions#usableSizes()} runs. Returns empty if no such monitor
     * runs. The difference of two readings is the distribution of the allocations between them.
     */
    public Optional<SizeDistribution> returnedSizes() {
      return engine.monitorBook().returnedSizes();
    }

    /** Returns the latest 64 events of the process's monitors, oldest first. */
    public List<MonitorEvent> events() {
      return engine.monitorBook().events();
    }

    /**
     * Ends the process's current phase, and begins the next. All instances share one phase at a
     * time. Scopes, such as {@link Counting#processScope()}, may overlap instead.
     *
     * @param name the name of the next phase; an empty name begins none
     * @return the phase that ended; empty if there was none
     */
    public Optional<Phase> nextPhase(String name) {
      return engine.monitorBook().nextPhase(name);
    }

    /** Returns the latest 64 phases that have ended, oldest first. */
    public List<Phase> phases() {
      return engine.monitorBook().phases();
    }

    /** Closes a monitor once. Logs a failure, so that the other monitors are closed too. */
    private void end(BuiltInMonitors.RunningMonitor started) {
      boolean mine;
      synchronized (subscribers) {
        mine = running.remove(started);
      }
      if (mine) {
        try {
          started.close();
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
          Log.MALLOMETER.warn("A monitor could not be ended", e);
        }
      }
    }

    void close() {
      List<BuiltInMonitors.RunningMonitor> all;
      synchronized (subscribers) {
        all = List.copyOf(running);
      }
      all.forEach(this::end);
    }
  }

  /** The last hour, and the previous run. */
  public final class History {

    private History() {}

    /**
     * Returns at most 550 points of the last hour, oldest first. The latest five minutes have a
     * point for every poll. The ten minutes before them have a point every ten seconds, and the
     * rest of the hour has one a minute.
     */
    public List<HistoryPoint> points() {
      return engine.history().points();
    }

    /**
     * Returns how memory was divided into parts at moments of the last hour, oldest first. There
     * are at most 90 moments: one every 15 s in the latest five minutes, and one a minute in the
     * rest of the hour.
     */
    public List<MemoryMoment> memory() {
      return engine.history().moments();
    }

    /** Returns how the previous run ended; empty if none is recorded. */
    public Optional<PreviousRun> previousRun() {
      return engine.recorder().previousRun();
    }

    /** Returns whether the last hour is recorded in a file, and where. */
    public RecordingStatus recording() {
      return engine.recorder().recording();
    }

    /**
     * Returns whether Kubernetes will receive the diagnosis if this process is killed; if not, the
     * result says why.
     */
    public TerminationMessage terminationMessage() {
      return engine.message().message();
    }
  }
}
