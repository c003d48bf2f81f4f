package io.mallometer.internal.engine;

import io.mallometer.internal.diagnosis.DiagnosisInput;
import io.mallometer.internal.diagnosis.DiagnosisRules;
import io.mallometer.internal.diagnosis.HeldDiagnosis;
import io.mallometer.internal.diagnosis.Readings;
import io.mallometer.internal.history.History;
import io.mallometer.internal.history.MemoryHistory;
import io.mallometer.internal.history.Recorder;
import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.ProcessStart;
import io.mallometer.internal.process.ApplicationVersion;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.internal.text.Log;
import io.mallometer.internal.text.SystemTime;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.LeakReport;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.model.TrimReport;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the library every few seconds and keeps the latest snapshot for everybody.
 *
 * <p>All facades of a class loader share one poller, so a second face costs no second poll. The
 * daemon thread runs while somebody holds a {@link Lease}. Where neither the library nor the
 * system's own figures can be read there is nothing that could change, and no thread.
 *
 * <p>Where memory goes is read by the thread alone: a split takes milliseconds, for which neither a
 * face nor a caller of {@link #poll()} waits.
 *
 * <p>The thread never dies of an exception: a failed poll is logged once, the previous snapshot
 * stays the latest, and its age, which is published, grows until a poll succeeds again.
 */
public final class Poller {

  /**
   * What an open facade holds.
   *
   * @param options what it asks for; empty if it takes what others ask for
   */
  public record Lease(Optional<MallometerOptions> options) {}

  /**
   * Who is told of each poll. What it throws is logged the first time only: one that is broken
   * would otherwise fill the log at the pace of polling.
   */
  public static final class Subscriber {
    private final Consumer<Snapshot> listener;
    private final Log.Once failure = Log.MALLOMETER.once();

    public Subscriber(Consumer<Snapshot> listener) {
      this.listener = listener;
    }

    private void tell(Snapshot snapshot) {
      try {
        listener.accept(snapshot);
      } catch (Throwable e) {
        failure.warn(
            "A poll listener threw an exception. It stays subscribed; further failures are not"
                + " logged.",
            e);
      }
    }
  }

  /** A class that is unloaded sooner than this after its method's first sample leaves no name. */
  private static final long NAMING_INTERVAL_NANOS = 1_000_000_000L;

  /**
   * The poll of a thread at which it first reads the call sites and judges them; the first poll
   * divides the resident set. Each loads classes and runs code that is not compiled yet, while the
   * application starts too.
   */
  private static final int FIRST_WITH_CALL_SITES = 2;

  /** The longest time between two diagnoses; near the limit it is the shorter one. */
  private static final long DIAGNOSIS_NANOS = 15_000_000_000L;

  private static final long DIAGNOSIS_NEAR_NANOS = 1_000_000_000L;
  private static final double NEAR_THE_LIMIT = 0.85;
  private static final long LONGEST_END_MILLIS = 1_000;
  private static final long LONGEST_READING_SECONDS = 10;

  private final Interposer interposer;
  private final MemorySource memorySource;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final ThreadFactory threadFactory;
  private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();

  /**
   * Guards reading and publishing together, so that the latest snapshot never goes back in time.
   */
  private final Object polling = new Object();

  private volatile Snapshot latest;

  /** The verdicts of the latest diagnosis; guarded by {@link #polling}. */
  private @Nullable LeakReport diagnosedFrom;

  /** The status of the latest diagnosis; guarded by {@link #polling}. */
  private @Nullable Status diagnosedStatus;

  /** When the resident set of the latest diagnosis was divided; guarded by {@link #polling}. */
  private @Nullable Instant diagnosedDivision;

  /** When it was drawn; guarded by {@link #polling}. */
  private long diagnosedAt;

  /** Until a detach; guarded by {@link #polling}. */
  private boolean gapsTold;

  private volatile ProcessMemory memory = ProcessMemory.unknown();
  private final AllocatorReader allocatorReader;
  private final CallSiteReader callSiteReader;
  private final LeakWatch leakWatch;
  private final Trimmer trimmer;
  private final OwnerSearches ownerSearches;
  private final ListenerThread listenerThread = new ListenerThread();
  private final History history = new History();
  private final MemoryHistory memoryHistory = new MemoryHistory();
  private final Readings readings = new Readings(ProcessCounts::read);
  private final Recorder recorder;
  private final ProfileKeeper profileKeeper;
  private final MonitorBook monitorBook;
  private final Scrapes scrapes;
  private final HeldDiagnosis heldDiagnosis;

  /** The application's version, unless options state one. */
  private final Optional<String> foundVersion;

  private final Log.Once memoryFailure = Log.MALLOMETER.once();
  private final Log.Once callSitesFailure = Log.MALLOMETER.once();
  private final Log.Once leaksFailure = Log.MALLOMETER.once();
  private final Log.Once diagnosisFailure = Log.MALLOMETER.once();

  /** The thread has it while it reads; {@link #suspend} takes it until {@link #resume}. */
  private final Semaphore reading = new Semaphore(1);

  private volatile boolean suspended;

  /** Guarded by this, as is {@link #thread}. Leases are compared by identity. */
  private final List<Lease> leases = new ArrayList<>();

  private volatile MallometerOptions options = MallometerOptions.defaults();
  private volatile Optional<String> applicationVersion;

  private final Object configuring = new Object();

  /** What was last applied; guarded by {@link #configuring}. */
  private Optional<MallometerOptions> configured = Optional.empty();

  private @Nullable Thread thread;

  /** Polls nothing until the first lease. */
  public Poller(Interposer interposer, MemorySource memorySource, Clock clock) {
    this(
        interposer,
        memorySource,
        clock,
        SystemTime.NANOS,
        new ThreadFactory() {
          @Override
          public Thread newThread(Runnable work) {
            return Poller.newThread(work);
          }
        },
        started(),
        ApplicationVersion.ofThisProcess());
  }

  /**
   * The same for tests.
   *
   * @param nanoTime by which readings are paced; the thread sleeps by the system's own
   */
  public Poller(
      Interposer interposer,
      MemorySource memorySource,
      Clock clock,
      LongSupplier nanoTime,
      ThreadFactory threadFactory) {
    this(
        interposer,
        memorySource,
        clock,
        nanoTime,
        threadFactory,
        clock.instant(),
        Optional.empty());
  }

  private Poller(
      Interposer interposer,
      MemorySource memorySource,
      Clock clock,
      LongSupplier nanoTime,
      ThreadFactory threadFactory,
      Instant started,
      Optional<String> foundVersion) {
    this.heldDiagnosis = new HeldDiagnosis(started);
    this.foundVersion = foundVersion;
    this.applicationVersion = foundVersion;
    this.threadFactory = threadFactory;
    this.nanoTime = nanoTime;
    this.interposer = interposer;
    this.memorySource = memorySource;
    this.clock = clock;
    this.allocatorReader = new AllocatorReader(interposer, clock, nanoTime);
    this.callSiteReader = new CallSiteReader(interposer, clock, nanoTime);
    this.leakWatch = new LeakWatch(interposer, callSiteReader, clock, nanoTime);
    this.trimmer =
        new Trimmer(
            interposer,
            new Supplier<OptionalLong>() {
              @Override
              public OptionalLong get() {
                return memorySource.residentBytes();
              }
            },
            clock,
            nanoTime);
    this.ownerSearches =
        new OwnerSearches(
            interposer,
            new OwnSurroundings(this::limit, nanoTime),
            () -> OwnerBudget.of(options),
            leakWatch::isLost,
            clock);
    this.recorder = new Recorder(interposer, clock, nanoTime);
    this.profileKeeper = new ProfileKeeper(callSiteReader, recorder, clock);
    this.monitorBook = new MonitorBook(interposer, clock);
    this.scrapes = new Scrapes(nanoTime);
    this.latest = firstSnapshot();
  }

  private static Instant started() {
    Optional<Instant> process = ProcessStart.instant();
    return process.isPresent()
        ? process.get()
        : Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
  }

  /** Returns the clock by which readings are paced. */
  public LongSupplier nanoTime() {
    return nanoTime;
  }

  public Interposer interposer() {
    return interposer;
  }

  public Clock clock() {
    return clock;
  }

  public ListenerThread listenerThread() {
    return listenerThread;
  }

  public Snapshot latest() {
    return latest;
  }

  /** Returns the snapshot that the calling thread's scrape shows. */
  public Snapshot scraped() {
    return scrapes.snapshot(latest);
  }

  public History history() {
    return history;
  }

  public MemoryHistory memoryHistory() {
    return memoryHistory;
  }

  public Recorder recorder() {
    return recorder;
  }

  public ProfileKeeper profileKeeper() {
    return profileKeeper;
  }

  public MonitorBook monitorBook() {
    return monitorBook;
  }

  /** Reads now, publishes, and tells subscribers. Exceptions of the reading reach the caller. */
  public Snapshot poll() {
    Snapshot snapshot;
    boolean incomplete;
    synchronized (polling) {
      Snapshot counted = interposer.read(clock.instant());
      snapshot = withObserved(counted);
      incomplete = showsFirstGaps(latest, snapshot);
      history.add(snapshot, nanoTime.getAsLong());
      memoryHistory.add(snapshot, nanoTime.getAsLong());
      readings.add(snapshot, nanoTime.getAsLong());
      snapshot = diagnosed(snapshot);
      latest = snapshot;
      scrapes.polled();
    }
    if (incomplete) {
      Log.MALLOMETER.warn(
          "Not every native allocation is counted: "
              + snapshot.status().reason()
              + ". A process that is started with the library preloaded counts every call.",
          null);
    }
    for (Subscriber subscriber : subscribers) {
      subscriber.tell(snapshot);
    }
    return snapshot;
  }

  /**
   * Draws the diagnosis anew for new verdicts, for a new division of the resident set, of which the
   * account is made, and for another status; otherwise every 15 seconds, near the limit every
   * second. Whatever fails here must not keep the counters from being shown.
   */
  private Snapshot diagnosed(Snapshot snapshot) {
    long now = nanoTime.getAsLong();
    LeakReport leaks = leakWatch.latest();
    Instant divided = readings.latest();
    boolean near = snapshot.memory().limit().usedShare() >= NEAR_THE_LIMIT;
    if (leaks == diagnosedFrom
        && divided.equals(diagnosedDivision)
        && snapshot.status().equals(diagnosedStatus)
        && now - diagnosedAt < (near ? DIAGNOSIS_NEAR_NANOS : DIAGNOSIS_NANOS)) {
      return snapshot.with(latest.diagnosis());
    }
    diagnosedDivision = divided;
    diagnosedStatus = snapshot.status();
    diagnosedFrom = leaks;
    diagnosedAt = now;
    try {
      return snapshot.with(diagnosis(snapshot));
    } catch (RuntimeException | LinkageError e) {
      diagnosisFailure.warn("No diagnosis can be drawn; the last one stays", e);
      return snapshot.with(latest.diagnosis());
    }
  }

  private Diagnosis diagnosis(Snapshot snapshot) {
    Diagnosis drawn =
        DiagnosisRules.diagnosis(
            new DiagnosisInput(
                snapshot,
                history.points(),
                readings.all(),
                callSiteReader.held(),
                leakWatch.latest(),
                options,
                recorder.previousRun(),
                heldDiagnosis.started(),
                heldDiagnosis.startedUp(snapshot.time()),
                heldDiagnosis.firstRow()));
    return heldDiagnosis.stands(drawn, nanoTime.getAsLong());
  }

  /** Notes that the application starts, or has started. */
  public void starting(boolean begins) {
    heldDiagnosis.starting(begins, clock.instant());
  }

  /**
   * Whether an attach was complete until now. Gaps that it had from its beginning are in the status
   * that it returned.
   */
  private boolean showsFirstGaps(Snapshot before, Snapshot now) {
    Optional<Attachment> attachment = now.self().attachment();
    boolean first =
        !gapsTold
            && before.self().attachment().map(Attachment::complete).orElse(false)
            && attachment.isPresent()
            && !attachment.get().complete();
    gapsTold = attachment.isPresent() && (gapsTold || first);
    return first;
  }

  /** The thread's observations, which a source that is fed by hand brings itself. */
  private Snapshot withObserved(Snapshot counted) {
    Snapshot snapshot = withVersion(memorySource.present() ? counted.with(memory) : counted);
    Optional<AllocatorStatistics> allocator = allocatorReader.latest();
    snapshot = allocator.isPresent() ? snapshot.with(allocator) : snapshot;
    Optional<SiteSummary> sites = callSiteReader.summary();
    boolean active = snapshot.status().active();
    snapshot = sites.isPresent() && active ? snapshot.with(sites.get()) : snapshot;
    Optional<LeakSummary> leaks = leakWatch.summary();
    return leaks.isPresent() && active ? snapshot.with(leaks.get()) : snapshot;
  }

  private Snapshot withVersion(Snapshot snapshot) {
    Optional<String> version = applicationVersion;
    return version.isPresent() ? snapshot.withApplicationVersion(version) : snapshot;
  }

  public LeakWatch leakWatch() {
    return leakWatch;
  }

  public CallSiteReader callSiteReader() {
    return callSiteReader;
  }

  /**
   * Trims on the calling thread, unless the latest trim was too short a time ago, and publishes
   * what the allocator says afterwards.
   */
  public TrimReport trim() {
    TrimReport report = trimmer.trim(options.get(Setting.TRIM_MINIMUM_INTERVAL));
    if (report.outcome() == TrimReport.Outcome.DONE) {
      allocatorReader.readAfterTrim();
    }
    return report;
  }

  private OptionalLong statedLimit() {
    Optional<Long> stated = options.find(Setting.LIMIT);
    return stated.isPresent() ? OptionalLong.of(stated.get()) : OptionalLong.empty();
  }

  private Limit limit() {
    return latest().memory().limit();
  }

  /** Searches of the Java heap. */
  public OwnerSearches ownerSearches() {
    return ownerSearches;
  }

  /** Begins to count in this process, and publishes what came of it. */
  public Status attach() {
    Status status = interposer.attach();
    if (status.active()) {
      // Call sites are recorded from here on; at the next poll much would have come already.
      nameMethods();
      leakWatch.begin();
      heldDiagnosis.anew();
    }
    poll();
    return status;
  }

  /** Ends what {@link #attach} began. */
  public Status detach() {
    Status status = interposer.detach();
    heldDiagnosis.anew();
    poll();
    return status;
  }

  public void subscribe(Subscriber subscriber) {
    subscribers.add(subscriber);
  }

  public void unsubscribe(Subscriber subscriber) {
    subscribers.remove(subscriber);
  }

  /**
   * Polls until the lease is released. The options of the oldest lease that has some hold for the
   * process; others are logged, and hold when those before them are released.
   */
  public Lease acquire(Optional<MallometerOptions> wanted) {
    Lease lease = new Lease(wanted);
    synchronized (this) {
      leases.add(lease);
    }
    configure();
    if (wanted.isPresent() && wanted.get() != options && !wanted.get().equals(options)) {
      Log.MALLOMETER.warn(
          "Options of Mallometer.open are ignored, because mallometer is open with different ones: %s. Open it"
                  .formatted(String.join(", ", wanted.get().differences(options)))
              + " without options, or close it everywhere first.");
    }
    begin();
    return lease;
  }

  private synchronized void begin() {
    if (leases.isEmpty()) {
      return;
    }
    if (thread == null) {
      latest = withVersion(latest); // the options may state one, and the first poll takes a moment
      if (interposer.present() || memorySource.present()) {
        thread = startThread();
      } else {
        recorder.refuse("mallometer measures nothing on this system");
      }
    }
    notifyAll();
  }

  /**
   * With the last lease the thread ends, which is waited for, though not for long: a web container
   * complains of the threads that an application has left running.
   */
  public void release(Lease lease) {
    Thread ending = endUnlessLeased(lease);
    configure();
    if (ending == null || ending == Thread.currentThread()) {
      return;
    }
    try {
      ending.join(LONGEST_END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Applied without the lock of the thread, which no logger and no file may hold up. */
  private void configure() {
    synchronized (configuring) {
      Optional<MallometerOptions> chosen = chosen();
      boolean first = chosen.isPresent() && configured.isEmpty();
      if (!first && chosen.equals(configured)) {
        return;
      }
      configured = chosen;
      if (chosen.isEmpty()) {
        leakWatch.end();
        return;
      }
      options = chosen.get();
      Optional<Path> recording = options.find(Setting.RECORDING);
      if (recording.isPresent()) {
        recorder.want(recording.get());
      }
      Optional<String> stated = options.find(Setting.VERSION);
      Optional<String> clean =
          stated.isPresent() ? ApplicationVersion.clean(stated.get()) : Optional.empty();
      applicationVersion = clean.isPresent() ? clean : foundVersion;
      callSiteReader.nameBy(options.get(Setting.APPLICATION_PACKAGES));
      leakWatch.configure(options);
    }
  }

  /** The options of the oldest lease that has some; empty if there is no lease. */
  private synchronized Optional<MallometerOptions> chosen() {
    if (leases.isEmpty()) {
      return Optional.empty();
    }
    MallometerOptions chosen = MallometerOptions.defaults();
    for (int i = leases.size() - 1; i >= 0; i--) {
      chosen = leases.get(i).options().orElse(chosen);
    }
    return Optional.of(chosen);
  }

  private synchronized @Nullable Thread endUnlessLeased(Lease lease) {
    leases.removeIf(held -> held == lease);
    if (!leases.isEmpty()) {
      return null;
    }
    Thread ending = thread;
    thread = null;
    notifyAll();
    return ending;
  }

  /**
   * Closes what is open, and keeps the thread from opening anything until {@link #resume}.
   *
   * @throws IllegalStateException if a reading has not ended after 10 s; the thread goes on then
   */
  public void suspend() {
    suspended = suspended || awaitEndOfReading();
    recorder.close();
    leakWatch.rest();
    if (!suspended) {
      throw new IllegalStateException(
          "files of /proc may be open, because mallometer is reading them");
    }
  }

  private boolean awaitEndOfReading() {
    try {
      return reading.tryAcquire(LONGEST_READING_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Has the thread go on, which opens again what it needs. */
  public void resume() {
    if (suspended) {
      suspended = false;
      reading.release();
    }
  }

  private Snapshot firstSnapshot() {
    try {
      return withVersion(interposer.read(clock.instant()));
    } catch (RuntimeException | LinkageError e) {
      Log.MALLOMETER.warn("Cannot read the native counters", e);
      return Snapshot.absent(
          clock.instant(), new Status(State.UNAVAILABLE, "the counters cannot be read: " + e, ""));
    }
  }

  private static Thread newThread(Runnable work) {
    Thread thread = new Thread(null, work, "mallometer-poller", 0, false);
    thread.setDaemon(true);
    // The creator's loader may be that of a web application that is undeployed before this thread
    // ends.
    thread.setContextClassLoader(Poller.class.getClassLoader());
    return thread;
  }

  /** Null where the system has no thread left; the next facade tries again. */
  private @Nullable Thread startThread() {
    Runnable work =
        new Runnable() {
          @Override
          public void run() {
            Poller.this.run();
          }
        };
    Thread started = threadFactory.newThread(work);
    try {
      started.start();
      return started;
    } catch (OutOfMemoryError e) {
      Log.MALLOMETER.warn("Native memory is not polled: no thread can be started", e);
      return null;
    }
  }

  private void run() {
    Log.Once failure = Log.MALLOMETER.once();
    for (int polls = 1; awaitNextPoll(); polls = Math.min(polls + 1, FIRST_WITH_CALL_SITES)) {
      reading.acquireUninterruptibly();
      try {
        recorder.begin();
        leakWatch.know(recorder.takeKnownLeaks());
        interposer.stayAttached();
        observe();
        if (polls >= FIRST_WITH_CALL_SITES) {
          observeCallSites();
          observeLeaks();
        }
        Snapshot snapshot = poll();
        if (recorder.crosses(snapshot)) {
          memorySource.renew();
          observe();
          observeCallSites();
          snapshot = poll();
        }
        // First what costs little: near the limit the next moment may be the last.
        recorder.observe(snapshot, leakWatch.known());
        if (polls >= FIRST_WITH_CALL_SITES) {
          keepProfiles(snapshot);
        }
        callSiteReader.letGo();
        failure.rearm();
      } catch (Throwable e) {
        failure.warn("A poll of the native counters failed; the last values stay", e);
      } finally {
        reading.release();
      }
    }
    stopRecording();
  }

  /** Unless another thread has begun to poll meanwhile. */
  private synchronized void stopRecording() {
    if (thread == null) {
      recorder.close();
    }
  }

  /** Whatever fails here must not keep the counters from being read. */
  private void observe() {
    try {
      memory = memorySource.read(() -> interposer.read(clock.instant()), statedLimit());
      if (!trimmer.running()) {
        allocatorReader.read(memory);
      }
    } catch (Throwable e) {
      memoryFailure.warn("The memory breakdown cannot be read; the last reading stays", e);
    }
  }

  /** Whatever fails here must not keep the counters from being read either. */
  private void observeCallSites() {
    try {
      if (interposer.present()) {
        callSiteReader.readIfDue();
      }
    } catch (Throwable e) {
      callSitesFailure.warn("The call sites cannot be read; the last reading stays", e);
    }
  }

  /** Nor this. */
  private void keepProfiles(Snapshot snapshot) {
    try {
      if (interposer.present()) {
        profileKeeper.observe(snapshot);
      }
    } catch (Throwable e) {
      callSitesFailure.warn(
          "The call sites of the peak, or of a crossed share of the limit, cannot be stored", e);
    }
  }

  /** Nor this. */
  private void observeLeaks() {
    try {
      Status status = latest.status();
      if (!status.active()) {
        leakWatch.stop(status.reason());
      } else if (interposer.present()) {
        leakWatch.evaluateIfDue(threads());
      }
    } catch (Throwable e) {
      leaksFailure.warn("Call sites cannot be judged; the last verdicts stay", e);
    }
  }

  private int threads() {
    return latest.process().map(NativeCounters::threads).orElse(0);
  }

  /** Why the thread woke up. */
  private enum Wake {
    TO_POLL,
    TO_NAME_METHODS,
    TO_END
  }

  /**
   * Sleeps for one interval, or until a recording is asked for, and has new methods named
   * meanwhile. Returns false when this thread is no longer wanted.
   */
  private boolean awaitNextPoll() {
    long start = System.nanoTime();
    Wake wake;
    do {
      nameMethods();
      wake = sleep(start);
    } while (wake == Wake.TO_NAME_METHODS);
    return wake == Wake.TO_POLL;
  }

  private synchronized Wake sleep(long start) {
    long asleep = System.nanoTime();
    while (thread == Thread.currentThread()) {
      long now = System.nanoTime();
      long remaining = options.get(Setting.POLL_INTERVAL).toNanos() - (now - start);
      if (remaining <= 0 || recorder.askedAnew()) {
        return Wake.TO_POLL;
      }
      remaining = Math.min(remaining, NAMING_INTERVAL_NANOS - (now - asleep));
      if (remaining <= 0) {
        return Wake.TO_NAME_METHODS;
      }
      try {
        wait(remaining / 1_000_000, (int) (remaining % 1_000_000));
      } catch (InterruptedException e) {
        // Nobody but the application's own sweeping of threads interrupts us; the leases decide.
        continue;
      }
    }
    return Wake.TO_END;
  }

  private void nameMethods() {
    try {
      if (interposer.present()) {
        interposer.nameMethods();
      }
    } catch (Throwable e) {
      callSitesFailure.warn("The methods of call sites have no names", e);
    }
  }
}
