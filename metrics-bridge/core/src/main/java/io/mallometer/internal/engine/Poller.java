package io.mallometer.internal.engine;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.text.Log;
import io.mallometer.model.Attachment;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Polls every few seconds: makes each reader read if it is due, reads the counters, and publishes
 * the snapshot.
 *
 * <p>All {@code Mallometer} objects of a class loader share one poller. Its daemon thread runs
 * while there is a {@link Lease} and there is anything to measure. Readers read only on this
 * thread. Any thread may call {@link #poll()}, which reads the counters and adds the latest
 * readings of the readers.
 *
 * <p>No exception ends the thread. The first failed poll is logged, and the previous snapshot stays
 * the latest until a poll succeeds.
 */
public final class Poller {

  /**
   * Keeps the poller running while a {@code Mallometer} object is open.
   *
   * @param options the object's options; empty if it takes the options of other objects
   */
  public record Lease(Optional<MallometerOptions> options) {}

  /**
   * Receives a snapshot after each poll. Only its first exception is logged, because a listener
   * that fails at each poll would fill the log.
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

  /**
   * The longest pause between two requests for the names of new methods. A method whose class is
   * unloaded during the pause has no name.
   */
  private static final long NAMING_INTERVAL_NANOS = 1_000_000_000L;

  private static final long LONGEST_END_MILLIS = 1_000;
  private static final long LONGEST_READING_SECONDS = 10;

  private final NativeLibrary library;
  private final Clock clock;
  private final ThreadFactory threadFactory;
  private final BooleanSupplier measures;
  private final List<Part> parts;
  private final Diagnoser diagnoser;
  private final SnapshotOfScrape scrapes;
  private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
  private final Log.Once namingFailure = Log.MALLOMETER.once();

  /** The lock for reading and publishing. It keeps the latest snapshot from going back in time. */
  private final Object polling = new Object();

  private volatile Snapshot latest;

  /**
   * Whether the warning that an attached library misses calls was logged. Guarded by {@link
   * #polling}.
   */
  private boolean gapsTold;

  /**
   * The poller's thread holds this permit during a reading. {@link #suspend} takes it until {@link
   * #resume}.
   */
  private final Semaphore reading = new Semaphore(1);

  private volatile boolean suspended;

  /** Guarded by this, like {@link #thread}. Leases are compared by identity. */
  private final List<Lease> leases = new ArrayList<>();

  private final AtomicReference<MallometerOptions> options;

  private final Object configuring = new Object();

  /** Guarded by {@link #configuring}. */
  private Optional<MallometerOptions> configured = Optional.empty();

  private @Nullable Thread thread;

  private record Part(SnapshotReader reader, Log.Once failure) {

    private interface Step {
      void run(SnapshotReader reader) throws Exception;
    }

    private void run(Step step) {
      try {
        step.run(reader);
      } catch (Throwable e) {
        failure.warn(reader.failure(), e);
      }
    }
  }

  Poller(
      NativeLibrary library,
      Clock clock,
      ThreadFactory threadFactory,
      AtomicReference<MallometerOptions> options,
      BooleanSupplier measures,
      List<SnapshotReader> readers,
      Diagnoser diagnoser,
      SnapshotOfScrape scrapes) {
    this.library = library;
    this.clock = clock;
    this.threadFactory = threadFactory;
    this.options = options;
    this.measures = measures;
    List<Part> all = new ArrayList<>();
    for (SnapshotReader reader : readers) {
      all.add(new Part(reader, Log.MALLOMETER.once()));
    }
    this.parts = List.copyOf(all);
    this.diagnoser = diagnoser;
    this.scrapes = scrapes;
    this.latest = firstSnapshot();
  }

  public Snapshot latest() {
    return latest;
  }

  /**
   * Returns the snapshot of the calling thread's scrape, a series of reads that all get the same
   * snapshot.
   */
  public Snapshot scraped() {
    return scrapes.snapshot(latest);
  }

  /**
   * Reads the counters, publishes a snapshot, and calls the subscribers. Throws the exceptions of
   * the reading.
   */
  public Snapshot poll() {
    Snapshot snapshot;
    boolean incomplete;
    synchronized (polling) {
      snapshot = shown(library.read(clock.instant()));
      incomplete = showsFirstGaps(latest, snapshot);
      snapshot = diagnoser.conclude(snapshot);
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

  private Snapshot shown(Snapshot counted) {
    Snapshot snapshot = counted;
    for (Part part : parts) {
      snapshot = part.reader.show(snapshot);
    }
    return snapshot;
  }

  /**
   * Returns whether an attached library had missed no calls at the previous snapshot, and has
   * missed calls by now. Returns true at most once for each attachment.
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

  public Status attach() {
    Status status = library.attach();
    if (status.active()) {
      // The library records call sites from now on. New methods are named at once, because
      // otherwise many sites would lack names at the next poll.
      nameMethods();
      for (Part part : parts) {
        part.reader.attached();
      }
      diagnoser.reset();
    }
    poll();
    return status;
  }

  public Status detach() {
    Status status = library.detach();
    diagnoser.reset();
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
   * Polls until the lease is released. If several leases have options, those of the oldest such
   * lease apply; after its release, those of the next.
   */
  public Lease acquire(Optional<MallometerOptions> wanted) {
    Lease lease = new Lease(wanted);
    synchronized (this) {
      leases.add(lease);
    }
    configure();
    MallometerOptions chosen = options.get();
    if (wanted.isPresent() && wanted.get() != chosen && !wanted.get().equals(chosen)) {
      Log.MALLOMETER.warn(
          "Options of Mallometer.open are ignored, because mallometer is open with different ones: %s. Open it"
                  .formatted(String.join(", ", wanted.get().differences(chosen)))
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
      // Adds the application's version, which the options may state. Callers get this snapshot
      // before the first poll.
      latest = shown(latest);
      if (measures.getAsBoolean()) {
        thread = startThread();
      }
    }
    notifyAll();
  }

  /**
   * Releases a lease. The last release waits at most a second for the end of the thread, because a
   * web container warns of threads that an application leaves running.
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

  /**
   * Applies the options, without the lock on this object, because loggers and files may take long.
   */
  private void configure() {
    synchronized (configuring) {
      Optional<MallometerOptions> chosen = chosen();
      boolean first = chosen.isPresent() && configured.isEmpty();
      if (!first && chosen.equals(configured)) {
        return;
      }
      configured = chosen;
      if (chosen.isPresent()) {
        options.set(chosen.get());
      }
      for (Part part : parts) {
        part.run(reader -> reader.configure(chosen));
      }
    }
  }

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
   * Stops reading, and closes what the readers hold open, until {@link #resume}.
   *
   * @throws IllegalStateException if a reading has not ended after 10 s; polling then continues
   */
  public void suspend() {
    suspended = suspended || awaitEndOfReading();
    for (Part part : parts) {
      part.run(SnapshotReader::suspend);
    }
    if (!library.nameCompiledMethods(false) || !suspended) {
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

  /**
   * Lets the thread continue. The next readings open their files again and begin new observations.
   */
  public void resume() {
    if (!library.nameCompiledMethods(true)) {
      Log.MALLOMETER.warn("The methods that the JVM compiles have no names from here on");
    }
    if (suspended) {
      suspended = false;
      reading.release();
    }
  }

  private Snapshot firstSnapshot() {
    try {
      return shown(library.read(clock.instant()));
    } catch (RuntimeException | LinkageError e) {
      Log.MALLOMETER.warn("Cannot read the native counters", e);
      return Snapshot.absent(
          clock.instant(), new Status(State.UNAVAILABLE, "the counters cannot be read: " + e, ""));
    }
  }

  static Thread newThread(Runnable work) {
    Thread thread = new Thread(null, work, "mallometer-poller", 0, false);
    thread.setDaemon(true);
    // A thread inherits the class loader of its creator, which may belong to a web application that
    // is undeployed before this thread ends.
    thread.setContextClassLoader(Poller.class.getClassLoader());
    return thread;
  }

  /**
   * Returns the new thread; null if it cannot be started. The next {@link #acquire} tries again.
   */
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
    for (int polls = 1; awaitNextPoll(); polls = polls == 1 ? 2 : polls) {
      reading.acquireUninterruptibly();
      try {
        library.stayAttached();
        int poll = polls;
        read(reader -> reader.firstPoll() <= poll);
        Snapshot first = poll();
        boolean urgent = any(reader -> reader.isUrgent(first));
        if (urgent) {
          read(SnapshotReader::renew);
        }
        tellReaders(urgent ? poll() : first, poll);
        failure.rearm();
      } catch (Throwable e) {
        failure.warn("A poll of the native counters failed; the last values stay", e);
      } finally {
        reading.release();
      }
    }
    end();
  }

  private void read(Predicate<SnapshotReader> takesPart) {
    Snapshot soFar = latest;
    for (Part part : parts) {
      if (takesPart.test(part.reader)) {
        Snapshot before = soFar;
        part.run(reader -> reader.read(before));
      }
      soFar = part.reader.show(soFar);
    }
  }

  /**
   * Returns whether the test holds for any reader. Tests all readers, because a test may clear a
   * reader's request.
   */
  private boolean any(Predicate<SnapshotReader> test) {
    boolean any = false;
    for (Part part : parts) {
      any |= test.test(part.reader);
    }
    return any;
  }

  private void tellReaders(Snapshot published, int poll) {
    for (Part part : parts) {
      if (part.reader.firstPoll() <= poll) {
        part.run(reader -> reader.published(published));
      }
    }
  }

  /** Ends the readers, unless a new polling thread was started meanwhile. */
  private synchronized void end() {
    if (thread == null) {
      for (Part part : parts) {
        part.reader.end();
      }
    }
  }

  private enum Wake {
    TO_POLL,
    TO_NAME_METHODS,
    TO_END
  }

  /**
   * Sleeps until the next poll is due or requested. Meanwhile looks up the names of new methods.
   * Returns false when this thread must end.
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
      long remaining = options.get().get(Setting.POLL_INTERVAL).toNanos() - (now - start);
      if (remaining <= 0 || any(SnapshotReader::isAsked)) {
        return Wake.TO_POLL;
      }
      remaining = Math.min(remaining, NAMING_INTERVAL_NANOS - (now - asleep));
      if (remaining <= 0) {
        return Wake.TO_NAME_METHODS;
      }
      try {
        wait(remaining / 1_000_000, (int) (remaining % 1_000_000));
      } catch (InterruptedException e) {
        // Ignores interrupts, because some applications interrupt all threads. Only the release of
        // the last lease ends this thread.
        continue;
      }
    }
    return Wake.TO_END;
  }

  private void nameMethods() {
    try {
      if (library.present()) {
        library.nameMethods();
      }
    } catch (Throwable e) {
      namingFailure.warn("The methods of call sites have no names", e);
    }
  }
}
