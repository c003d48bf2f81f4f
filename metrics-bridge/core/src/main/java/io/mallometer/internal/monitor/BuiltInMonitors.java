package io.mallometer.internal.monitor;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.RequestWatch;
import io.mallometer.internal.text.HumanText;
import io.mallometer.internal.text.Log;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ready-made monitors. At each poll, a monitor reads what the library has counted and stored.
 * The monitor then acts on the thread of listeners, so that no poll and no caller waits. Watching
 * requests above a size slows down these requests; counting returned sizes slows down all
 * allocations.
 */
public final class BuiltInMonitors {

  private static final int MOST_SITES = 10;

  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

  private BuiltInMonitors() {}

  /** A monitor, called with each snapshot until it is closed. */
  public interface RunningMonitor extends Consumer<Snapshot> {
    /** Returns why the monitor reports less than requested; empty if it reports everything. */
    default String reason() {
      return "";
    }

    /**
     * Reports the remaining requests, and ends the library's work for this monitor. Called once.
     */
    default void close() {}
  }

  /**
   * The parts of the process that monitors need.
   *
   * @param sites reads the call sites, unless the latest reading is younger than a second
   * @param keptSites reads the call sites and keeps the reading; used when live bytes exceed the
   *     size that a {@link MonitorOptions#liveSize} monitor was given
   * @param nanoTime the clock by which monitors limit how often they write
   */
  public record MonitorContext(
      NativeLibrary library,
      Supplier<Snapshot> latest,
      Supplier<CallSites> sites,
      Supplier<CallSites> keptSites,
      ListenerThread listenerThread,
      MonitorJournal book,
      LongSupplier nanoTime) {}

  public static RunningMonitor of(MonitorOptions options, MonitorContext context) {
    return switch (options.kind()) {
      case THRESHOLD -> new ThresholdMonitor(options, context);
      case LIVE_SIZE -> new LiveSizeMonitor(options, context);
      case CSV_FILE -> new CsvFileMonitor(options.file().orElseThrow(), context);
      case USABLE_SIZES -> new UsableSizesMonitor(options, context);
    };
  }

  /**
   * Runs work on the thread of listeners, unless it is waiting there already. If no thread can be
   * started, the next poll tries again.
   *
   * @param pending whether the work is waiting; the work itself clears this
   */
  private static void runOnce(AtomicBoolean pending, MonitorContext context, Runnable work) {
    if (pending.compareAndSet(false, true)) {
      ListenerThread.execute(context.listenerThread(), work, () -> pending.set(false));
    }
  }

  // ---- The monitor of requests above a size

  /**
   * Reports requests above the size that the monitor's options state. A {@link RequestWatch} of the
   * library stores these requests. If the library cannot open the watch, only requests that it
   * records as huge are reported.
   */
  private static final class ThresholdMonitor implements RunningMonitor {
    private final MonitorOptions options;
    private final MonitorContext context;
    private final HugeAllocationWatch huge;
    private final Log.Once tooLow = Log.MALLOMETER.once();
    private final AtomicBoolean pending = new AtomicBoolean();

    /** The number of the last huge request before the monitor began. */
    private final long before;

    /** Held while requests are reported. No poll waits for it. */
    private final ReentrantLock reporting = new ReentrantLock();

    /** Requests that were read and are not reported yet. Guarded by {@link #reporting}. */
    private final Queue<RequestWatch.Request> unreported = new ArrayDeque<>();

    /** Guarded by this, as is {@link #closed}. */
    private @Nullable RequestWatch watch;

    private boolean closed;

    ThresholdMonitor(MonitorOptions options, MonitorContext context) {
      this.options = options;
      this.context = context;
      this.before = newest(context.latest().get());
      this.huge =
          new HugeAllocationWatch(
              (request, missed) -> reportHuge(request),
              context.listenerThread(),
              context.nanoTime());
    }

    private static long newest(Snapshot snapshot) {
      List<HugeAllocation> known = snapshot.hugeAllocations();
      return known.isEmpty() ? 0 : known.get(known.size() - 1).number();
    }

    @Override
    public void accept(Snapshot snapshot) {
      if (!snapshot.status().active()) {
        return;
      }
      boolean begins = opened() == null;
      String reason = openWatch();
      if (reason.isEmpty()) {
        if (begins) {
          return;
        }
        runOnce(pending, context, this::reportWatched);
        return;
      }
      double recorded = snapshot.self().hugeThresholdBytes();
      if (recorded > options.bytes()) {
        tooLow.warn(
            "Monitor %s: the library records requests above %s only, because %s. Start the process with MALLOMETER_HUGE=%d to hear of smaller ones."
                .formatted(options, HumanText.bytes(recorded), reason, options.bytes()),
            null);
      }
      huge.accept(snapshot);
    }

    private synchronized String openWatch() {
      if (closed) {
        return "";
      }
      RequestWatch known = watch;
      if (known == null) {
        known = context.library().watchRequests(options.bytes(), options.thread());
        watch = known;
      }
      return known.reason();
    }

    @Override
    public String reason() {
      RequestWatch known = opened();
      return known == null ? "nothing is counted yet" : known.reason();
    }

    /**
     * Gives the listeners the large requests that were recorded. Releases {@link #reporting} while
     * it reads the call sites, which may take seconds, so that a thread that closes the monitor
     * need not wait.
     */
    private void reportWatched() {
      pending.set(false);
      reporting.lock();
      try {
        take();
        if (unreported.isEmpty()) {
          return;
        }
      } finally {
        reporting.unlock();
      }
      LongFunction<List<String>> sites = closestSites();
      reporting.lock();
      try {
        reportTaken(sites);
      } finally {
        reporting.unlock();
      }
    }

    private void take() {
      RequestWatch known = opened();
      if (known != null) {
        unreported.addAll(known.read());
      }
    }

    private void reportTaken(LongFunction<List<String>> sites) {
      while (!unreported.isEmpty()) {
        RequestWatch.Request request = unreported.remove();
        report(request.allocation(), request.stack(), sites);
      }
    }

    /**
     * Reports the remaining requests, unless a listener still runs after a second: it may wait for
     * a lock that the closing thread holds.
     */
    private void reportLast() {
      try {
        if (reporting.tryLock(LONGEST_CLOSE.toMillis(), TimeUnit.MILLISECONDS)) {
          try {
            take();
            if (!unreported.isEmpty()) {
              reportTaken(closestSites());
            }
          } finally {
            reporting.unlock();
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private synchronized @Nullable RequestWatch opened() {
      return watch;
    }

    @Override
    public void close() {
      try {
        reportLast();
      } finally {
        huge.close();
        synchronized (this) {
          closed = true;
          if (watch != null) {
            watch.close();
          }
        }
      }
    }

    private void reportHuge(HugeAllocation request) {
      boolean isOfThread = options.thread() == 0 || options.thread() == request.threadId();
      if (isOfThread && request.number() > before && request.bytes() > options.bytes()) {
        report(request, context.library().stackOf(request), closestSites());
      }
    }

    /**
     * Returns a function that takes the size of a request, and describes the call sites whose mean
     * request size is closest to it.
     */
    private LongFunction<List<String>> closestSites() {
      try {
        List<CallSite> above =
            context.sites().get().sites().stream()
                .filter(site -> mean(site) > options.bytes())
                .toList();
        return bytes ->
            above.stream()
                .sorted(Comparator.comparingDouble(site -> Math.abs(mean(site) - bytes)))
                .limit(MOST_SITES)
                .map(
                    site ->
                        "call site that requests %s on average: %s (%s)"
                            .formatted(HumanText.bytes(mean(site)), site.name(), site.library()))
                .toList();
      } catch (RuntimeException | LinkageError e) {
        return bytes -> List.of("the call sites cannot be read: " + e);
      }
    }

    private void report(
        HugeAllocation request, List<StackFrame> frames, LongFunction<List<String>> sites) {
      List<String> stack = new ArrayList<>();
      for (StackFrame frame : frames) {
        stack.add(frame.toString());
      }
      stack.addAll(sites.apply(request.bytes()));
      context
          .book()
          .publish(
              new MonitorEvent(
                  options,
                  request.time(),
                  request.bytes(),
                  request.threadId(),
                  "thread %s (%d) requested %s"
                      .formatted(
                          request.threadName(),
                          request.threadId(),
                          HumanText.bytes(request.bytes())),
                  stack));
    }

    private static double mean(CallSite site) {
      return site.allocatedBytes().value() / site.allocatedObjects().value();
    }
  }

  // ---- The monitor of live bytes above a size

  /** Reports when live bytes exceed a size, and again only after they fell 5 % below that size. */
  private static final class LiveSizeMonitor implements RunningMonitor {
    private static final double REARM_SHARE = 0.95;

    private final MonitorOptions options;
    private final MonitorContext context;
    private boolean exceeded;

    LiveSizeMonitor(MonitorOptions options, MonitorContext context) {
      this.options = options;
      this.context = context;
    }

    @Override
    public void accept(Snapshot snapshot) {
      double live = snapshot.process().map(NativeCounters::liveBytes).orElse(Double.NaN);
      if (exceeds(live)) {
        ListenerThread.execute(
            context.listenerThread(), () -> report(snapshot, live), this::forget);
      }
    }

    /** Called if no thread could be started for the report, so that the next poll tries again. */
    private synchronized void forget() {
      exceeded = false;
    }

    private synchronized boolean exceeds(double live) {
      boolean newly = !exceeded && live > options.bytes();
      exceeded = newly || exceeded && !(live < options.bytes() * REARM_SHARE);
      return newly;
    }

    private void report(Snapshot snapshot, double live) {
      List<String> details = new ArrayList<>();
      try {
        CallSites read = context.keptSites().get();
        for (CallSite site : read.sites()) {
          if (details.size() < MOST_SITES) {
            details.add(
                "%s live: %s (%s)"
                    .formatted(
                        HumanText.bytes(site.liveBytes().value()), site.name(), site.library()));
          }
        }
        if (details.isEmpty()) {
          details.add(read.reason());
        }
      } catch (RuntimeException | LinkageError e) {
        details.add("the call sites cannot be read: " + e);
      }
      context
          .book()
          .publish(
              new MonitorEvent(
                  options,
                  snapshot.time(),
                  Math.round(live),
                  0,
                  "%s are live, more than %s"
                      .formatted(HumanText.bytes(live), HumanText.bytes(options.bytes())),
                  details));
    }
  }

  // ---- The monitor that writes a row at each poll

  /**
   * Writes a row at each poll, at most one a second. The file is open only during a write, so it
   * can be moved away, and does not prevent a checkpoint of the JVM. At {@value #MOST_BYTES} bytes,
   * the file is renamed to FILE.1.
   */
  private static final class CsvFileMonitor implements RunningMonitor {
    private static final long MOST_BYTES = 4 << 20;
    private static final long PAUSE_NANOS = 1_000_000_000L;
    private static final String HEAD =
        "time,live_bytes,peak_bytes,allocations,frees,failed,requested_bytes\n";

    private final Path file;
    private final MonitorContext context;
    private final AtomicBoolean pending = new AtomicBoolean();
    private final Log.Once failure = Log.MALLOMETER.once();

    /** Guarded by this, as is {@link #written}. */
    private long writtenAt;

    private boolean written;

    CsvFileMonitor(Path file, MonitorContext context) {
      this.file = file;
      this.context = context;
    }

    @Override
    public void accept(Snapshot snapshot) {
      if (snapshot.process().isPresent() && due()) {
        runOnce(pending, context, () -> write(row(snapshot, snapshot.process().get())));
      }
    }

    private synchronized boolean due() {
      long now = context.nanoTime().getAsLong();
      if (written && now - writtenAt < PAUSE_NANOS) {
        return false;
      }
      written = true;
      writtenAt = now;
      return true;
    }

    private static String row(Snapshot snapshot, NativeCounters counted) {
      return String.format(
          Locale.ROOT,
          "%s,%s,%s,%d,%d,%d,%d%n",
          snapshot.time(),
          whole(counted.liveBytes()),
          whole(counted.peakBytes()),
          counted.allocations(),
          counted.frees(),
          counted.failed(),
          counted.requestedBytes());
    }

    private static String whole(double figure) {
      return Double.isNaN(figure) ? "" : Long.toString(Math.round(figure));
    }

    private void write(String row) {
      pending.set(false);
      try {
        if (Files.exists(file) && Files.size(file) + row.length() > MOST_BYTES) {
          Files.move(file, Path.of(file + ".1"), StandardCopyOption.REPLACE_EXISTING);
        }
        String text = Files.exists(file) ? row : HEAD + row;
        Files.writeString(
            file,
            text,
            StandardCharsets.US_ASCII,
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
        failure.rearm();
      } catch (IOException | RuntimeException e) {
        failure.warn("The monitor csv-file=" + file + " cannot write a row", e);
      }
    }
  }

  // ---- The monitor of sizes that malloc returned

  private static final class UsableSizesMonitor implements RunningMonitor {
    private final MonitorOptions options;
    private final MonitorContext context;
    private final Log.Once failure = Log.MALLOMETER.once();

    /**
     * Whether this monitor has made the library count allocations by usable size. Guarded by this.
     */
    private boolean counts;

    private boolean closed;

    UsableSizesMonitor(MonitorOptions options, MonitorContext context) {
      this.options = options;
      this.context = context;
    }

    @Override
    public synchronized void accept(Snapshot snapshot) {
      if (counts || closed || !snapshot.status().active()) {
        return;
      }
      String reason = context.library().countReturnedSizes(true);
      counts = reason.isEmpty();
      if (!counts) {
        failure.warn("Monitor %s: nothing is counted: %s".formatted(options, reason), null);
      }
    }

    @Override
    public synchronized void close() {
      closed = true;
      if (counts) {
        counts = false;
        context.library().countReturnedSizes(false);
      }
    }
  }
}
