package io.mallometer;

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
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The facade: native memory of this process, as the library counts it.
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
 * <p>Thread-safe. Nothing here throws because the library is absent: {@link #status()} then says
 * why, and what to do. While any facade is open, one daemon thread shared by all of them polls the
 * library. Tests of code that takes a facade use {@link FakeMallometer}.
 */
public interface Mallometer extends AutoCloseable {

  /**
   * Opens a facade that has no options of its own: those of another open facade hold, or {@link
   * MallometerOptions#defaults()}. Never throws for an absent or unreachable library.
   */
  static Mallometer open() {
    return new PolledMallometer(PolledMallometer.ofThisProcess(), Optional.empty());
  }

  /**
   * Opens a facade. A process has one configuration: the options of the facade that was opened
   * first hold until it is closed. Other options are logged at level WARNING and wait until then.
   * Never throws for an absent or unreachable library.
   */
  static Mallometer open(MallometerOptions options) {
    return new PolledMallometer(PolledMallometer.ofThisProcess(), Optional.of(options));
  }

  /**
   * Returns whether native allocations were counted at the latest poll, or why not and what to do.
   */
  default Status status() {
    return snapshot().status();
  }

  /** Returns the latest poll's reading. Takes no lock and makes no native call. */
  Snapshot snapshot();

  /**
   * Returns the snapshot of the calling thread's scrape, for a face whose figures are asked for one
   * by one. The first that a thread reads serves it until it has read none for 250 ms, and for 5 s
   * at most; a thread that calls {@link #poll()} sees the new one.
   */
  Snapshot scraped();

  /**
   * Reads the counters, which becomes the latest snapshot. If that fails, the previous snapshot
   * stays and is returned; its {@link Snapshot#time()} tells.
   */
  Snapshot poll();

  /**
   * Says that the application starts, or that it has started. From then on growth counts; without
   * this call from two minutes after the start of the JVM. Only the first start of a process
   * counts.
   */
  void starting(boolean begins);

  /**
   * Calls {@code listener} after each poll, on the thread that polled, until the subscription or
   * this facade is closed; after that it does nothing. The first exception of a listener is logged.
   * Without the library nothing polls, except callers of {@link #poll()}.
   */
  Subscription onPoll(Consumer<Snapshot> listener);

  /** Returns the clock that {@link Snapshot#time()} is taken from. */
  Clock clock();

  /** Returns the control of counting, which also measures pieces of work. */
  Counting counting();

  /** Returns the call sites. */
  Sites sites();

  /** Returns the verdicts on call sites. */
  Leaks leaks();

  /** Returns what can be done with the allocator. */
  Allocator allocator();

  /** Returns the ready-made monitors, and the phases. */
  Monitors monitors();

  /** Returns the last hour, and the run before this one. */
  History history();

  /**
   * Ends this facade's part in the poller, which stops when the last facade closes, and every
   * subscription made here. The latest snapshot, {@link #poll()} and scopes go on working. Does
   * nothing the second time.
   *
   * <p>A face is closed by the code that opened it, best before this; the other order is safe. A
   * face that is left open goes on showing the latest snapshot, whose {@link Snapshot#age age}
   * grows.
   */
  @Override
  void close();

  /** Undoes a subscription. */
  @FunctionalInterface
  interface Subscription extends AutoCloseable {
    /** Ends the subscription. Does nothing the second time. */
    @Override
    void close();

    /**
     * Returns why less is told than was asked for, as by a monitor for which the native library has
     * no place; empty if there is no such reason.
     */
    default String reason() {
      return "";
    }
  }

  /** Attaching to this process, and counting what a piece of code does. */
  interface Counting {

    /**
     * Begins to count in a JVM that was started without the library; of what was allocated before
     * only the sum is known. Does nothing where something counts already. Holds for the whole
     * process until {@link #detach} or its end, also after the facade is closed.
     *
     * <p>Takes up to half a second, most of it for JNA's start: call it on a thread that nobody
     * waits for. Never throws: a refusal leaves the process as it was, and is the reason of the
     * status. {@code MALLOMETER_ATTACH=off} in the environment refuses.
     *
     * @return the status afterwards
     */
    Status attach();

    /**
     * Ends what {@link #attach} began, for the whole process; the counters end with it. A preloaded
     * library goes on counting.
     *
     * @return the status afterwards
     */
    Status detach();

    /** Opens a scope over the calling thread, with {@link ScopeOptions#defaults()}. */
    default NativeScope threadScope() {
      return threadScope(ScopeOptions.defaults());
    }

    /**
     * Opens a scope over the calling thread. On a virtual thread the scope is empty, with that
     * reason: a virtual thread changes its carrier thread, and the counters belong to the carrier.
     */
    NativeScope threadScope(ScopeOptions options);

    /** Opens a scope over the whole process, with {@link ScopeOptions#defaults()}. */
    NativeScope processScope();

    /**
     * Returns an executor that measures each task which it passes on, whichever platform thread
     * runs it.
     */
    ScopedExecutor across(Executor executor, ScopeOptions options);

    /** Returns such an executor, with {@link ScopeOptions#defaults()}. */
    default ScopedExecutor across(Executor executor) {
      return across(executor, ScopeOptions.defaults());
    }

    /**
     * Opens a scope over the whole process, as {@link #processScope()} does. {@link
     * NativeScope#unhook()} closes it and returns its figures.
     */
    default NativeScope hook() {
      return processScope();
    }
  }

  /** The code that allocates. Nothing here throws: what prevents a reading is its reason. */
  interface Sites {

    /**
     * Reads which call site allocated what, and what of it is live; takes milliseconds. If the
     * latest reading is less than a second old, that is returned.
     */
    CallSites read();

    /**
     * Samples nearly every allocation until the result is closed, so that the call sites of what is
     * allocated meanwhile are exact, or very nearly. Each allocation of the process takes some
     * microseconds more: use this in tests and for short times.
     */
    CloseLook closely();

    /**
     * Returns what changed of the call sites between two moments of the last hour, of which five
     * minutes are kept by 15 s and the rest by the minute; the second may be the present. The
     * moments nearest to those asked for are compared, if they are at most two minutes away; from
     * before the first reading on, the changes are those since it.
     */
    SiteChanges changes(Instant from, Instant to);

    /**
     * Returns what changed of the call sites over this time, up to a reading. It compares with the
     * kept moment that is nearest, as in {@link #changes(Instant, Instant)}; the result names that
     * moment. Reads nothing.
     *
     * @param now what {@link #read()} returned
     */
    SiteChanges changes(Duration over, CallSites now);

    /**
     * Returns the call sites as they were at a moment that is kept until the next of its kind: at
     * most 2,048 of them, those with most live and with most allocated bytes. Without such a moment
     * there are no sites, and the reason says why.
     */
    CallSites at(KeptMoment moment);

    /**
     * Returns what groups of call sites held in the last hour: those with most live bytes and those
     * that grew most. As of a reading that is at most 15 s old or, where that would take more than
     * a thousandth of the time, at most a minute.
     *
     * @param most so many of each
     */
    SiteTrends trends(Grouping grouping, int most);
  }

  /** A time in which nearly every allocation is sampled. */
  interface CloseLook extends AutoCloseable {

    /**
     * Reads the call sites anew, without ages. Nothing here throws: what prevents a reading is its
     * reason.
     */
    CallSites read();

    /** Ends it. When all have ended, as few allocations are sampled as before. */
    @Override
    void close();
  }

  /** The verdicts on call sites. */
  interface Leaks {

    /**
     * Returns the latest verdicts. Call sites are judged every 15 s. If that is expensive, less
     * often, so that it uses at most 0.1 % of a processor, but at least once a minute.
     */
    LeakReport report();

    /**
     * Acknowledges the call sites of a name, whatever their verdict, or takes that back. Holds for
     * all facades until the process ends, or for longer with {@link
     * Setting#LEAK_ACKNOWLEDGED_SITES_FILE}.
     *
     * @param site the name; one that ends in {@code *} is the beginning of a name
     */
    void acknowledge(String site, boolean fine);

    /**
     * Calls {@code listener} for each site that becomes a leak and for those that are one, until
     * the subscription or the facade is closed. A site that ceases to be one and becomes one again
     * is told again. The first exception of a listener is logged.
     */
    Subscription onLeak(Consumer<SiteVerdict> listener);

    /**
     * Searches the Java heap for the objects that hold the live samples of a call site. Runs on the
     * calling thread. Each walk over the heap stops the program, for about a second or more for
     * each GiB; a walk that is estimated to exceed {@link Setting#OWNERS_MAX_PAUSE} is refused with
     * the reason.
     *
     * @param site the call site's number
     * @param links over how many links what keeps these objects is looked for, each of which takes
     *     a walk of its own: 0 to 8
     */
    OwnerReport owners(int site, int links);

    /** The same within another budget of pauses than the options state. */
    OwnerReport owners(int site, int links, OwnerBudget budget);

    /** Returns what such a search would do now, without doing it. */
    OwnerReport.Outlook ownerOutlook();

    /** Returns the latest search that was done; empty if none was. */
    Optional<OwnerReport> latestOwners();
  }

  /** The allocator of this process. */
  interface Allocator {

    /**
     * Asks the allocator to return retained memory to the operating system. Runs on the calling
     * thread, which may take seconds; threads that allocate wait for the part of it that concerns
     * their arena. Refused if the latest trim of this class loader is less than {@link
     * Setting#TRIM_MINIMUM_INTERVAL} ago. A new snapshot is read afterwards.
     */
    TrimReport trim();

    /**
     * Trims at an interval, whenever a trim would return at least {@code leastShare} of the
     * resident set, until the subscription is closed. Each trim is logged at level INFO. {@link
     * Setting#TRIM_MINIMUM_INTERVAL} holds as for {@link #trim()}.
     *
     * @param leastShare 0 to 1
     */
    Subscription trimEvery(Duration interval, double leastShare);

    /**
     * Calls {@code listener} once for each request above {@link SelfReport#hugeThresholdBytes()},
     * also for earlier ones that are still known, until the subscription or the facade is closed.
     * At most 64 a second; further ones are missed and counted. The first exception of a listener
     * is logged.
     */
    Subscription onHugeAllocation(HugeAllocationListener listener);
  }

  /**
   * Ready-made monitors. The library counts and the polls look: no Java code runs inside of an
   * allocation, and an event comes up to a poll interval after what it tells of. An event is logged
   * at level WARNING, kept, and told to listeners. No monitor aborts anything.
   */
  interface Monitors {

    /**
     * Starts a monitor of the process. It goes on until the subscription or this facade is closed.
     * Closing a {@link MonitorOptions#threshold} first tells of the requests that were not told
     * yet, on the calling thread.
     */
    Subscription start(MonitorOptions monitor);

    /**
     * Calls {@code listener} for each event of any monitor of the process, whichever facade started
     * it, until the subscription or this facade is closed. Called on a thread of mallometer's on
     * which only other listeners wait. The first exception of a listener is logged.
     */
    Subscription onEvent(Consumer<MonitorEvent> listener);

    /**
     * Returns the number of allocations of the process by the size that the allocator handed out,
     * while monitors {@link MonitorOptions#usableSizes()} were there; empty while there is none.
     * The difference of two readings is what came between them.
     */
    Optional<SizeDistribution> returnedSizes();

    /** Returns the latest 64 events of the process's monitors, oldest first. */
    List<MonitorEvent> events();

    /**
     * Ends the process's current phase, and begins the next. A process has one phase at a time,
     * whichever facade begins it; for scopes that overlap there is {@link Counting#processScope()}.
     *
     * @param name the name of the next phase; an empty name begins none
     * @return the phase that ended; empty if there was none
     */
    Optional<Phase> nextPhase(String name);

    /** Returns the latest 64 phases that have ended, oldest first. */
    List<Phase> phases();
  }

  /** The last hour, and the run before this one. */
  interface History {

    /**
     * Returns the last hour at falling resolution, oldest first: five minutes as often as was
     * polled, a quarter of an hour by ten seconds, the rest by the minute. At most 550 points.
     */
    List<HistoryPoint> points();

    /**
     * Returns where the memory was in the last hour, oldest first: five minutes by 15 s, the rest
     * by the minute. At most 90 moments.
     */
    List<MemoryMoment> memory();

    /** Returns how the previous run ended; empty if none is recorded. */
    Optional<PreviousRun> previousRun();

    /** Returns whether the last hour is recorded in a file, and where. */
    RecordingStatus recording();
  }
}
