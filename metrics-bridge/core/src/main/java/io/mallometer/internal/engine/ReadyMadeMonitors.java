package io.mallometer.internal.engine;

import io.mallometer.internal.interposer.RequestWatch;
import io.mallometer.internal.text.Log;
import io.mallometer.internal.text.Words;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The ready-made monitors. They look at what C has counted and kept when a poll comes, and act on
 * the thread of listeners, where neither a poll nor a caller waits. Only what C does for a monitor
 * adds something to an allocation: for a threshold to requests above it, for returned sizes to all.
 */
public final class ReadyMadeMonitors {

  private static final int MOST_SITES = 10;

  /** So long the end of a monitor waits for a listener that is being told. */
  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

  private ReadyMadeMonitors() {}

  /** A monitor, which is called with each snapshot until it is closed. */
  public interface Running extends Consumer<Snapshot> {
    /** Why it tells less than it was asked for; empty if it tells all. */
    default String reason() {
      return "";
    }

    /** Tells what was seen and not told yet, and ends what C does for it. Called once. */
    default void close() {}
  }

  /** Makes a monitor. */
  public static Running of(MonitorOptions options, Poller poller) {
    return switch (options.kind()) {
      case THRESHOLD -> new Threshold(options, poller);
      case LIVE_SIZE -> new Present(options, poller);
      case CSV_FILE -> new Periodic(options.file().orElseThrow(), poller);
      case USABLE_SIZES -> new Returned(options, poller);
    };
  }

  /**
   * Has the thread of listeners do something, unless it waits there already. Where no thread can be
   * started, the next poll tries again.
   *
   * @param pending whether it waits; the work itself clears it
   */
  private static void hand(AtomicBoolean pending, Poller poller, Runnable work) {
    if (!pending.compareAndSet(false, true)) {
      return;
    }
    boolean handed = false;
    try {
      poller.listenerThread().execute(work);
      handed = true;
    } finally {
      if (!handed) {
        pending.set(false);
      }
    }
  }

  // ---- Who asked for so much?

  /**
   * The library watches from when it counts on. One that is too old for that, or has no watch left,
   * records huge requests at least.
   */
  private static final class Threshold implements Running {
    private final MonitorOptions options;
    private final Poller poller;
    private final HugeAllocationWatch huge;
    private final Log.Once tooLow = Log.MALLOMETER.once();
    private final AtomicBoolean pending = new AtomicBoolean();

    /** Huge requests up to this number were made before the monitor. */
    private final long before;

    /** Held while requests are told, for which no poll waits. */
    private final ReentrantLock telling = new ReentrantLock();

    /** Guarded by this, as is {@link #closed}. */
    private @Nullable RequestWatch watch;

    private boolean closed;

    Threshold(MonitorOptions options, Poller poller) {
      this.options = options;
      this.poller = poller;
      this.before = newest(poller.latest());
      this.huge =
          new HugeAllocationWatch(
              (request, missed) -> tellHuge(request), poller.listenerThread(), poller.nanoTime());
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
      String reason = watches();
      if (reason.isEmpty()) {
        if (begins) {
          return;
        }
        hand(pending, poller, this::tellWatched);
        return;
      }
      double recorded = snapshot.self().hugeThresholdBytes();
      if (recorded > options.bytes()) {
        tooLow.warn(
            "Monitor %s: the library records requests above %s only, because %s. Start the process with MALLOMETER_HUGE=%d to hear of smaller ones."
                .formatted(options, Words.bytes(recorded), reason, options.bytes()),
            null);
      }
      huge.accept(snapshot);
    }

    /** Opens the watch, unless it is open; returns why there is none, or an empty text. */
    private synchronized String watches() {
      if (closed) {
        return "";
      }
      RequestWatch known = watch;
      if (known == null) {
        known = poller.interposer().watchRequests(options.bytes(), options.thread());
        watch = known;
      }
      return known.reason();
    }

    @Override
    public String reason() {
      RequestWatch known = opened();
      return known == null ? "nothing is counted yet" : known.reason();
    }

    private void tellWatched() {
      pending.set(false);
      telling.lock();
      try {
        tellRest();
      } finally {
        telling.unlock();
      }
    }

    private void tellRest() {
      RequestWatch known = opened();
      if (known != null) {
        for (RequestWatch.Request request : known.read()) {
          tell(request.allocation(), request.stack());
        }
      }
    }

    /** A listener that waits for a lock of the closing thread must not stop it for good. */
    private void tellLast() {
      try {
        if (telling.tryLock(LONGEST_CLOSE.toMillis(), TimeUnit.MILLISECONDS)) {
          try {
            tellRest();
          } finally {
            telling.unlock();
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
        tellLast();
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

    private void tellHuge(HugeAllocation request) {
      boolean isOfThread = options.thread() == 0 || options.thread() == request.threadId();
      if (isOfThread && request.number() > before && request.bytes() > options.bytes()) {
        tell(request, poller.interposer().stackOf(request));
      }
    }

    private void tell(HugeAllocation request, List<StackFrame> frames) {
      List<String> stack = new ArrayList<>();
      for (StackFrame frame : frames) {
        stack.add(frame.toString());
      }
      try {
        poller.callSiteReader().callSites().sites().stream()
            .filter(site -> mean(site) > options.bytes())
            .sorted(Comparator.comparingDouble(site -> Math.abs(mean(site) - request.bytes())))
            .limit(MOST_SITES)
            .forEach(
                site ->
                    stack.add(
                        "call site that requests %s on average: %s (%s)"
                            .formatted(Words.bytes(mean(site)), site.name(), site.library())));
      } catch (RuntimeException | LinkageError e) {
        stack.add("the call sites cannot be read: " + e);
      }
      poller
          .monitorBook()
          .publish(
              new MonitorEvent(
                  options,
                  request.time(),
                  request.bytes(),
                  request.threadId(),
                  "thread %s (%d) requested %s"
                      .formatted(
                          request.threadName(), request.threadId(), Words.bytes(request.bytes())),
                  stack));
    }

    private static double mean(CallSite site) {
      return site.allocatedBytes().value() / site.allocatedObjects().value();
    }
  }

  // ---- Who was live?

  /** A figure that swings around the size must fall 5 % below it before it counts again. */
  private static final class Present implements Running {
    private static final double AGAIN = 0.95;

    private final MonitorOptions options;
    private final Poller poller;
    private boolean crossed;

    Present(MonitorOptions options, Poller poller) {
      this.options = options;
      this.poller = poller;
    }

    @Override
    public void accept(Snapshot snapshot) {
      double live = snapshot.process().map(NativeCounters::liveBytes).orElse(Double.NaN);
      if (crosses(live)) {
        boolean handed = false;
        try {
          poller.listenerThread().execute(() -> tell(snapshot, live));
          handed = true;
        } finally {
          if (!handed) {
            forget();
          }
        }
      }
    }

    /** Where no thread can be started, the next poll tries again. */
    private synchronized void forget() {
      crossed = false;
    }

    private synchronized boolean crosses(double live) {
      boolean newly = !crossed && live > options.bytes();
      crossed = newly || crossed && !(live < options.bytes() * AGAIN);
      return newly;
    }

    private void tell(Snapshot snapshot, double live) {
      List<String> details = new ArrayList<>();
      try {
        CallSites read = poller.profileKeeper().keepPresent();
        for (CallSite site : read.sites()) {
          if (details.size() < MOST_SITES) {
            details.add(
                "%s live: %s (%s)"
                    .formatted(Words.bytes(site.liveBytes().value()), site.name(), site.library()));
          }
        }
        if (details.isEmpty()) {
          details.add(read.reason());
        }
      } catch (RuntimeException | LinkageError e) {
        details.add("the call sites cannot be read: " + e);
      }
      poller
          .monitorBook()
          .publish(
              new MonitorEvent(
                  options,
                  snapshot.time(),
                  Math.round(live),
                  0,
                  "%s are live, more than %s"
                      .formatted(Words.bytes(live), Words.bytes(options.bytes())),
                  details));
    }
  }

  // ---- A row at each poll

  /**
   * The file is opened for each row, so that it can be moved away, and is not open in a checkpoint.
   * One that has grown to {@value #MOST_BYTES} bytes becomes FILE.1, in place of the one before.
   */
  private static final class Periodic implements Running {
    private static final long MOST_BYTES = 4 << 20;
    private static final long PAUSE_NANOS = 1_000_000_000L;
    private static final String HEAD =
        "time,live_bytes,peak_bytes,allocations,frees,failed,requested_bytes\n";

    private final Path file;
    private final Poller poller;
    private final AtomicBoolean pending = new AtomicBoolean();
    private final Log.Once failure = Log.MALLOMETER.once();

    /** Guarded by this, as is {@link #written}. */
    private long writtenAt;

    private boolean written;

    Periodic(Path file, Poller poller) {
      this.file = file;
      this.poller = poller;
    }

    @Override
    public void accept(Snapshot snapshot) {
      if (snapshot.process().isPresent() && due()) {
        hand(pending, poller, () -> write(row(snapshot, snapshot.process().get())));
      }
    }

    private synchronized boolean due() {
      long now = poller.nanoTime().getAsLong();
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

  // ---- What did the allocator hand out?

  private static final class Returned implements Running {
    private final MonitorOptions options;
    private final Poller poller;
    private final Log.Once failure = Log.MALLOMETER.once();

    /** Guarded by this. */
    private boolean counts;

    private boolean closed;

    Returned(MonitorOptions options, Poller poller) {
      this.options = options;
      this.poller = poller;
    }

    @Override
    public synchronized void accept(Snapshot snapshot) {
      if (counts || closed || !snapshot.status().active()) {
        return;
      }
      String reason = poller.interposer().countReturnedSizes(true);
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
        poller.interposer().countReturnedSizes(false);
      }
    }
  }
}
