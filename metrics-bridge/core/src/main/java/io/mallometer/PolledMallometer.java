package io.mallometer;

import io.mallometer.internal.engine.AutomaticTrim;
import io.mallometer.internal.engine.HugeAllocationWatch;
import io.mallometer.internal.engine.LeakNews;
import io.mallometer.internal.engine.Poller;
import io.mallometer.internal.engine.ReadyMadeMonitors;
import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.OpenScope;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.text.Log;
import io.mallometer.model.CallSites;
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
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
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

/** A facade over a poller, which it shares with others. */
class PolledMallometer implements Mallometer {

  /**
   * The one piece of static state: a process has one set of counters, and its facades share one
   * poller. Created at first use.
   */
  private static final class Shared {
    static final Poller POLLER =
        new Poller(Interposer.ofThisProcess(), MemorySource.ofThisProcess(), Clock.systemUTC());

    static {
      if (Checkpoints.possible()) {
        Checkpoints.around(POLLER::suspend, POLLER::resume);
      }
    }
  }

  private static final String ON_A_VIRTUAL_THREAD =
      "a virtual thread has no counters of its own: its carrier thread, which changes, has them";

  /** Facades that are open in this class loader. */
  private static final AtomicInteger OPEN = new AtomicInteger();

  private final Poller poller;
  private final Poller.Lease lease;
  private final Counting counting = new PolledCounting();
  private final Sites sites = new PolledSites();
  private final Leaks leaks = new PolledLeaks();
  private final Allocator allocator = new PolledAllocator();
  private final History history = new PolledHistory();
  private final PolledMonitors monitors = new PolledMonitors();

  /** Monitors that are not closed yet; guarded by {@link #subscribers}. */
  private final Set<ReadyMadeMonitors.Running> running = new HashSet<>();

  /** Listeners of monitors; guarded by {@link #subscribers}. */
  private final Set<Consumer<MonitorEvent>> monitorListeners = new HashSet<>();

  /** Subscriptions made here; guarded by itself, as is {@link #closed}. */
  private final Set<Poller.Subscriber> subscribers = new HashSet<>();

  private boolean closed;

  PolledMallometer(Poller poller, Optional<MallometerOptions> options) {
    this.poller = poller;
    this.lease = poller.acquire(options);
    OPEN.incrementAndGet();
  }

  /** Returns whether a facade is open in this class loader. The agent calls this by its name. */
  static boolean isAnyOpen() {
    return OPEN.get() > 0;
  }

  static Poller ofThisProcess() {
    return Shared.POLLER;
  }

  @Override
  public Snapshot snapshot() {
    return poller.latest();
  }

  @Override
  public Snapshot scraped() {
    return poller.scraped();
  }

  @Override
  public Snapshot poll() {
    return orElse(poller::poll, poller::latest);
  }

  @Override
  public void starting(boolean begins) {
    poller.starting(begins);
  }

  @Override
  public Clock clock() {
    return poller.clock();
  }

  @Override
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

  @Override
  public Counting counting() {
    return counting;
  }

  @Override
  public Sites sites() {
    return sites;
  }

  @Override
  public Leaks leaks() {
    return leaks;
  }

  @Override
  public Allocator allocator() {
    return allocator;
  }

  @Override
  public Monitors monitors() {
    return monitors;
  }

  @Override
  public History history() {
    return history;
  }

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
      monitorListeners.forEach(poller.monitorBook()::unsubscribe);
      monitorListeners.clear();
    }
    OPEN.decrementAndGet();
    poller.release(lease);
  }

  private void unsubscribe(Poller.Subscriber subscriber) {
    synchronized (subscribers) {
      subscribers.remove(subscriber);
      poller.unsubscribe(subscriber);
    }
  }

  /** Subscribes to the polls, and tells of the latest one at once. */
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

  static NativeScope threadScope(Poller poller, ScopeOptions options) {
    return isVirtual(Thread.currentThread())
        ? new NativeScope(OpenScope.none(ON_A_VIRTUAL_THREAD))
        : open(() -> poller.interposer().threadScope(options));
  }

  /** Returns whether a thread is virtual, by its group: {@code Thread.isVirtual()} needs JDK 21. */
  private static boolean isVirtual(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    return group != null && group.getName().equals("VirtualThreads");
  }

  private static NativeScope open(Supplier<OpenScope> opening) {
    try {
      return new NativeScope(opening.get());
    } catch (RuntimeException | LinkageError e) {
      return new NativeScope(OpenScope.none("the library cannot be called: " + e));
    }
  }

  private final class PolledCounting implements Counting {
    @Override
    public Status attach() {
      return orElse(poller::attach, PolledMallometer.this::status);
    }

    @Override
    public Status detach() {
      return orElse(poller::detach, PolledMallometer.this::status);
    }

    @Override
    public NativeScope threadScope(ScopeOptions options) {
      return PolledMallometer.threadScope(poller, options);
    }

    @Override
    public NativeScope processScope() {
      return open(() -> poller.interposer().processScope());
    }

    @Override
    public ScopedExecutor across(Executor executor, ScopeOptions options) {
      return new ScopedExecutor(executor, () -> threadScope(options));
    }
  }

  private final class PolledSites implements Sites {
    @Override
    public CallSites read() {
      try {
        return poller.callSiteReader().callSites();
      } catch (RuntimeException | LinkageError e) {
        return CallSites.none(clock().instant(), unreadable(e));
      }
    }

    @Override
    public CloseLook closely() {
      return new PolledCloseLook(poller.interposer());
    }

    @Override
    public SiteChanges changes(Instant from, Instant to) {
      try {
        return poller.callSiteReader().changes(from, to);
      } catch (RuntimeException | LinkageError e) {
        return SiteChanges.none(unreadable(e));
      }
    }

    @Override
    public SiteChanges changes(Duration over, CallSites now) {
      try {
        return poller.callSiteReader().changes(over, now);
      } catch (RuntimeException | LinkageError e) {
        return SiteChanges.none(unreadable(e));
      }
    }

    @Override
    public CallSites at(KeptMoment moment) {
      try {
        return poller.profileKeeper().at(moment);
      } catch (RuntimeException | LinkageError e) {
        return CallSites.none(clock().instant(), unreadable(e));
      }
    }

    @Override
    public SiteTrends trends(Grouping grouping, int most) {
      try {
        return poller.callSiteReader().trends(grouping, most);
      } catch (RuntimeException | LinkageError e) {
        return new SiteTrends(List.of(), List.of(), unreadable(e));
      }
    }
  }

  private final class PolledCloseLook implements CloseLook {
    private final Interposer interposer;
    private final AtomicBoolean ended = new AtomicBoolean();

    PolledCloseLook(Interposer interposer) {
      this.interposer = interposer;
      interposer.sampleClosely(true);
    }

    @Override
    public CallSites read() {
      try {
        return interposer.callSites(clock().instant(), List.of(), true);
      } catch (RuntimeException | LinkageError e) {
        return CallSites.none(clock().instant(), unreadable(e));
      }
    }

    @Override
    public void close() {
      if (ended.compareAndSet(false, true)) {
        interposer.sampleClosely(false);
      }
    }
  }

  private final class PolledLeaks implements Leaks {
    @Override
    public LeakReport report() {
      Status status = status();
      return status.active()
          ? poller.leakWatch().latest()
          : LeakReport.none(clock().instant(), status.reason());
    }

    @Override
    public void acknowledge(String site, boolean fine) {
      poller.leakWatch().acknowledge(site, fine);
    }

    @Override
    public Subscription onLeak(Consumer<SiteVerdict> listener) {
      LeakNews news = new LeakNews(this::report, listener, poller.listenerThread());
      return andOnPoll(news, news::close);
    }

    @Override
    public OwnerReport owners(int site, int links) {
      return poller.ownerSearches().search(site, links);
    }

    @Override
    public OwnerReport owners(int site, int links, OwnerBudget budget) {
      return poller.ownerSearches().search(site, links, budget);
    }

    @Override
    public OwnerReport.Outlook ownerOutlook() {
      return poller.ownerSearches().outlook();
    }

    @Override
    public Optional<OwnerReport> latestOwners() {
      return poller.ownerSearches().latest();
    }
  }

  private final class PolledAllocator implements Allocator {
    @Override
    public TrimReport trim() {
      TrimReport report = poller.trim();
      if (report.outcome() == TrimReport.Outcome.DONE) {
        poll();
      }
      return report;
    }

    @Override
    public Subscription trimEvery(Duration interval, double leastShare) {
      AutomaticTrim trims =
          new AutomaticTrim(PolledMallometer.this::snapshot, this::trim, interval, leastShare);
      trims.start();
      return trims::close;
    }

    @Override
    public Subscription onHugeAllocation(HugeAllocationListener listener) {
      HugeAllocationWatch watch =
          new HugeAllocationWatch(listener, poller.listenerThread(), poller.nanoTime());
      return andOnPoll(watch, watch::close);
    }
  }

  private final class PolledMonitors implements Monitors {
    @Override
    public Subscription start(MonitorOptions monitor) {
      ReadyMadeMonitors.Running started = ReadyMadeMonitors.of(monitor, poller);
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

    /** Whoever takes it out of the set closes it. A failure concerns neither caller nor others. */
    private void end(ReadyMadeMonitors.Running started) {
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
      List<ReadyMadeMonitors.Running> all;
      synchronized (subscribers) {
        all = List.copyOf(running);
      }
      all.forEach(this::end);
    }

    @Override
    public Optional<SizeDistribution> returnedSizes() {
      return poller.monitorBook().returnedSizes();
    }

    @Override
    public Subscription onEvent(Consumer<MonitorEvent> listener) {
      Consumer<MonitorEvent> own = listener::accept;
      synchronized (subscribers) {
        if (!closed) {
          monitorListeners.add(own);
          poller.monitorBook().subscribe(own);
        }
      }
      return () -> {
        synchronized (subscribers) {
          monitorListeners.remove(own);
          poller.monitorBook().unsubscribe(own);
        }
      };
    }

    @Override
    public List<MonitorEvent> events() {
      return poller.monitorBook().events();
    }

    @Override
    public Optional<Phase> nextPhase(String name) {
      return poller.monitorBook().nextPhase(name);
    }

    @Override
    public List<Phase> phases() {
      return poller.monitorBook().phases();
    }
  }

  private final class PolledHistory implements History {
    @Override
    public List<HistoryPoint> points() {
      return poller.history().points();
    }

    @Override
    public List<MemoryMoment> memory() {
      return poller.memoryHistory().moments();
    }

    @Override
    public Optional<PreviousRun> previousRun() {
      return poller.recorder().previousRun();
    }

    @Override
    public RecordingStatus recording() {
      return poller.recorder().recording();
    }
  }
}
