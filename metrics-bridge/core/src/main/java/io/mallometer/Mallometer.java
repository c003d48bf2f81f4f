package io.mallometer;

import io.mallometer.engine.AutomaticTrim;
import io.mallometer.engine.DiagnosisRules;
import io.mallometer.engine.LargeAllocationWatch;
import io.mallometer.engine.LeakNews;
import io.mallometer.engine.LeakWatch;
import io.mallometer.engine.OwnThread;
import io.mallometer.engine.Poller;
import io.mallometer.interposer.Interposer;
import io.mallometer.model.CallSites;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Grouping;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LargeAllocationListener;
import io.mallometer.model.LastLife;
import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MemoryMoment;
import io.mallometer.model.Recording;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import io.mallometer.model.TrimReport;
import io.mallometer.process.Checkpoints;
import io.mallometer.process.MemorySource;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The facade: native memory of this process, as the library counts it.
 *
 * <pre>{@code
 * try (Mallometer mallometer = Mallometer.open()) {
 *   mallometer.snapshot().process()
 *       .ifPresentOrElse(
 *           counted -> System.out.println(counted.liveBytes() + " bytes in use"),
 *           () -> System.out.println(mallometer.status()));
 * }
 * }</pre>
 *
 * <p>Thread-safe. Nothing here throws because the library is absent: {@link #status()} then says
 * why, and what to do. While any facade is open, one daemon thread shared by all of them polls the
 * library.
 */
public final class Mallometer implements AutoCloseable {

  /** Undoes {@link #onPoll}. */
  @FunctionalInterface
  public interface Subscription extends AutoCloseable {
    /** Ends the subscription. Does nothing the second time. */
    @Override
    void close();
  }

  /**
   * The one piece of static state: a process has one set of counters, and its facades share one
   * poller whoever opens them. Created at first use.
   */
  private static final class Shared {
    static final Poller POLLER =
        new Poller(Interposer.ofThisProcess(), MemorySource.ofThisProcess(), Clock.systemUTC());

    static {
      Checkpoints.around(POLLER::suspend, POLLER::resume);
    }
  }

  private final Poller poller;
  private final MallometerOptions options;
  private final Poller.Lease lease;
  private final LeakWatch.Wish leakWish;

  /** What this facade's listeners hold; guarded by itself, as is {@link #closed}. */
  private final Set<Poller.Subscriber> subscribers = new HashSet<>();

  private boolean closed;

  public Mallometer(Poller poller, MallometerOptions options) {
    this.poller = poller;
    this.options = options;
    if (options.recordPath().isPresent()) {
      poller.blackBox().want(options.recordPath().get());
    }
    poller.callSiteReader().nameBy(options.applicationPackages());
    this.leakWish = poller.leakWatch().want(options.leaks());
    this.lease = poller.acquire(options.pollInterval());
  }

  /** Opens the facade with {@link MallometerOptions#defaults()}. */
  public static Mallometer open() {
    return open(MallometerOptions.defaults());
  }

  /** Opens the facade. Never throws for an absent or unreachable library. */
  public static Mallometer open(MallometerOptions options) {
    return new Mallometer(Shared.POLLER, options);
  }

  /** Whether native allocations were counted at the latest poll, why or why not, and what to do. */
  public Status status() {
    return snapshot().status();
  }

  /**
   * Begins to count in a JVM that was started without the library: from now on, what was allocated
   * before being known as a sum only. Does nothing where something counts already. Holds for the
   * whole process until {@link #detach} or its end, also after this facade is closed.
   *
   * <p>Takes up to half a second, most of it for JNA's start, so it is best called on a thread that
   * nobody waits for. Never throws: a refusal leaves the process as it was, and is the reason of
   * the status. {@code MALLOMETER_ATTACH=off} in the environment refuses.
   *
   * @return the status then
   */
  public Status attach() {
    try {
      return poller.attach();
    } catch (RuntimeException | LinkageError e) {
      return status();
    }
  }

  /**
   * Ends what {@link #attach} began, for everybody in the process; the counters end with it. What
   * was not attached stays as it is.
   *
   * @return the status then
   */
  public Status detach() {
    try {
      return poller.detach();
    } catch (RuntimeException | LinkageError e) {
      return status();
    }
  }

  /** The latest poll's reading. Takes no lock and makes no native call. */
  public Snapshot snapshot() {
    return poller.latest();
  }

  /**
   * Reads the counters now, which becomes the latest snapshot. If that fails, the previous snapshot
   * stays and is returned; its {@link Snapshot#time()} tells.
   */
  public Snapshot poll() {
    try {
      return poller.poll();
    } catch (RuntimeException | LinkageError e) {
      return poller.latest();
    }
  }

  /** Opens a bracket over the whole process. */
  public Bracket hook() {
    return new Bracket(poller.interposer()::process);
  }

  /**
   * Opens a bracket over the calling thread alone. A virtual thread changes its carrier, whose
   * counters these are: on a virtual thread the bracket stays empty.
   */
  public Bracket hookThread() {
    return new Bracket(new OwnThread(poller.interposer()));
  }

  /**
   * Calls {@code listener} after each poll, on the thread that polled, until the subscription or
   * this facade is closed; after that it does nothing. What the listener throws is logged once and
   * dropped. Without the library nothing polls, except callers of {@link #poll()}.
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

  /**
   * Tells {@code listener} of each request above {@link SelfReport#hugeThresholdBytes()} once, also
   * of earlier ones as far as they are known, until the subscription or this facade is closed. At
   * most 64 a second; what is more is missed and counted. What the listener throws is logged once
   * and dropped.
   */
  public Subscription onLargeAllocation(LargeAllocationListener listener) {
    LargeAllocationWatch watch =
        new LargeAllocationWatch(listener, poller.listenerThread(), System::nanoTime);
    Subscription polls = onPoll(watch);
    watch.accept(snapshot());
    return () -> {
      polls.close();
      watch.close();
    };
  }

  /**
   * Trims at an interval, whenever a trim would give back at least {@code leastShare} of the
   * resident set, until the subscription is closed. Each trim is logged at level INFO. {@link
   * MallometerOptions#minimumTrimInterval()} holds as for {@link #trim()}.
   *
   * @param leastShare 0 to 1
   */
  public Subscription trimEvery(Duration interval, double leastShare) {
    AutomaticTrim trims = new AutomaticTrim(this::snapshot, this::trim, interval, leastShare);
    trims.start();
    return trims::close;
  }

  /**
   * Asks the allocator to give free memory back to the operating system, and tells what came back.
   * Runs on the calling thread, which may take seconds; threads that allocate wait for the part of
   * it that concerns their arena. Refused if the latest trim of this class loader is less than
   * {@link MallometerOptions#minimumTrimInterval()} ago. The latest snapshot is a new one
   * afterwards.
   */
  public TrimReport trim() {
    TrimReport report = poller.trim(options.minimumTrimInterval());
    if (report.outcome() == TrimReport.Outcome.DONE) {
      poll();
    }
    return report;
  }

  /**
   * Who allocated what, and what of it is live, read now; takes milliseconds. If the latest reading
   * is less than a second old, that is returned. Never throws: what prevents it is the reason.
   */
  public CallSites callSites() {
    try {
      return poller.callSiteReader().callSites();
    } catch (RuntimeException | LinkageError e) {
      return CallSites.none(clock().instant(), "the call sites cannot be read: " + e);
    }
  }

  /**
   * Which call sites leak, as of the latest evaluation: every 15 s, or as seldom as keeps that
   * under a thousandth of the time, on the poller's thread.
   */
  public LeakReport leaks() {
    Status status = status();
    return status.active()
        ? poller.leakWatch().latest()
        : LeakReport.none(clock().instant(), status.reason());
  }

  /**
   * Says that the sites of a name are fine, whatever their verdict, or takes that back. Holds for
   * all facades until the process ends, or for longer with {@link LeakOptions#healthySitesFile()}.
   *
   * @param site the name; one that ends in {@code *} is the beginning of a name
   */
  public void acknowledgeLeak(String site, boolean fine) {
    poller.leakWatch().acknowledge(site, fine);
  }

  /**
   * Tells {@code listener} of each site that becomes a leak, also of those that are one, until the
   * subscription or this facade is closed. A site that is none any more and becomes one again is
   * told again. What the listener throws is logged once and dropped.
   */
  public Subscription onLeak(Consumer<SiteVerdict> listener) {
    LeakNews news = new LeakNews(this::leaks, listener, poller.listenerThread());
    Subscription polls = onPoll(news);
    news.accept(snapshot());
    return () -> {
      polls.close();
      news.close();
    };
  }

  /**
   * What changed of the call sites between two moments of the last hour, of which five minutes are
   * kept by 15 s and the rest by the minute; the second may be now. The moments nearest to those
   * asked for are compared, if they are at most two minutes away. Never throws.
   */
  public SiteChanges siteChanges(Instant from, Instant to) {
    try {
      return poller.callSiteReader().changes(from, to);
    } catch (RuntimeException | LinkageError e) {
      return SiteChanges.none("the call sites cannot be read: " + e);
    }
  }

  /**
   * The last hour at falling resolution, oldest first: five minutes as often as was polled, a
   * quarter of an hour by ten seconds, the rest by the minute. At most 550 points.
   */
  public List<HistoryPoint> history() {
    return poller.history().points();
  }

  /**
   * Where the memory was in the last hour, oldest first: five minutes by 15 s, the rest by the
   * minute. At most 90 moments.
   */
  public List<MemoryMoment> memoryHistory() {
    return poller.memoryHistory().moments();
  }

  /** How it stands with native memory, in one sentence and with its reasons. */
  public Diagnosis diagnosis() {
    return DiagnosisRules.diagnosis(
        snapshot(), history(), leaks(), poller.leakWatch().leastObservation());
  }

  /**
   * What call sites held in the last hour and hold now, taken together: those with most live bytes
   * and those that grew most. As of a reading that is at most 15 s old or, where that would take
   * more than a thousandth of the time, at most a minute. Never throws.
   *
   * @param most so many of each
   */
  public SiteTrends siteTrends(Grouping grouping, int most) {
    try {
      return poller.callSiteReader().trends(grouping, most);
    } catch (RuntimeException | LinkageError e) {
      return new SiteTrends(List.of(), List.of(), "the call sites cannot be read: " + e);
    }
  }

  /** How the life before this one ended; empty if none is recorded. */
  public Optional<LastLife> lastLife() {
    return poller.blackBox().lastLife();
  }

  /** Whether the last hour is recorded in a file, and where. */
  public Recording recording() {
    return poller.blackBox().recording();
  }

  /** The clock that {@link Snapshot#time()} is taken from. */
  public Clock clock() {
    return poller.clock();
  }

  /**
   * Ends this facade's part in the poller, which stops when the last facade closes, and every
   * {@link #onPoll} subscription made here. The latest snapshot, {@link #poll()} and brackets go on
   * working. Does nothing the second time.
   *
   * <p>Faces are closed by who opened them, best before this; the other order is safe, too. A face
   * that is left open goes on showing the latest snapshot as it was, active or not, and its {@link
   * Snapshot#age age} grows. Nothing but the face itself then holds the registry that it is in.
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
    poller.leakWatch().release(leakWish);
    poller.release(lease);
  }

  private void unsubscribe(Poller.Subscriber subscriber) {
    synchronized (subscribers) {
      subscribers.remove(subscriber);
      poller.unsubscribe(subscriber);
    }
  }
}
