package io.mallometer.push;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Log;
import io.mallometer.model.CallSites;
import io.mallometer.report.ReportFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sends profiles of the call sites to a Pyroscope store or Grafana Alloy at an interval: the memory
 * allocated since the previous profile, and the live memory. Uses {@code
 * push.v1.PusherService/Push} of the Connect API, and one daemon thread.
 *
 * <p>A store is not available if there is no connection, or if it answers with status 5xx, 408 or
 * 429. Then the profile is sent again after 1 s, 2 s, 4 s and so on up to the interval. At most ten
 * profiles, together 4 MiB, wait; the oldest are dropped. After any other error status, the profile
 * is dropped. A series of failures is logged once.
 */
public final class ProfilePush implements AutoCloseable {

  private static final int MOST_WAITING = 10;
  private static final long MOST_WAITING_BYTES = 4 << 20;
  private static final long FIRST_PAUSE_NANOS = 1_000_000_000L;
  private static final long LONGEST_END_MILLIS = 1_000;

  private final Mallometer mallometer;
  private final PushOptions options;
  private final Store store;
  private final Log.Once failure = Log.MALLOMETER.once();

  /**
   * The profiles to send. A thread synchronizes on this queue while it reads the call sites or
   * sends profiles. The lock also guards {@code before}.
   */
  private final Deque<byte[]> waiting = new ArrayDeque<>();

  private Optional<CallSites> before = Optional.empty();

  private volatile long sent;
  private volatile long dropped;
  private volatile boolean closed;

  /** The thread that pushes; null during a pause. */
  private volatile @Nullable Thread thread;

  private ProfilePush(Mallometer mallometer, PushOptions options) {
    this.mallometer = mallometer;
    this.options = options;
    this.store = new Store(options);
  }

  /** Starts to push. The first profile is sent after one interval. */
  public static ProfilePush start(Mallometer mallometer, PushOptions options) {
    ProfilePush push = new ProfilePush(mallometer, options);
    push.resume();
    return push;
  }

  /** Returns how many profiles the store has taken. */
  public long sent() {
    return sent;
  }

  /**
   * Returns the number of profiles that the store refused, or that were dropped while the store was
   * not available.
   */
  public long dropped() {
    return dropped;
  }

  /**
   * Pauses until {@link #resume()}. Aborts the current push, whose profile is sent again later.
   * Waits at most a second for the thread to end.
   */
  public void pause() {
    Thread ended;
    synchronized (this) {
      ended = thread;
      thread = null;
      notifyAll();
    }
    if (ended == null || Thread.currentThread() == ended) {
      return;
    }
    store.disconnect();
    try {
      ended.join(LONGEST_END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Resumes after {@link #pause()}, unless closed. */
  public synchronized void resume() {
    if (closed || thread != null) {
      return;
    }
    Thread next = new Thread(null, this::run, "mallometer-push", 0, false);
    next.setDaemon(true);
    next.setContextClassLoader(ProfilePush.class.getClassLoader());
    thread = next;
    next.start();
  }

  /** Stops pushing. Waits for a second at most. */
  @Override
  public void close() {
    closed = true;
    pause();
  }

  private boolean goesOn() {
    return Thread.currentThread() == thread;
  }

  private void run() {
    long interval = options.interval().toNanos();
    long due = System.nanoTime();
    long pause = FIRST_PAUSE_NANOS;
    long retry = due;
    while (goesOn()) {
      boolean waits = false;
      try {
        long now = System.nanoTime();
        synchronized (waiting) {
          if (now - due >= 0) {
            due = now + interval;
            take();
          }
          if (!waiting.isEmpty() && now - retry >= 0) {
            boolean taken = send();
            retry = System.nanoTime() + (taken ? 0 : pause);
            pause = taken ? FIRST_PAUSE_NANOS : longer(pause);
          }
          waits = !waiting.isEmpty();
        }
      } catch (Throwable e) {
        if (goesOn()) {
          // The message could quote a credential, so only the class is logged.
          failure.warn(
              "A profile cannot be pushed to %s: %s"
                  .formatted(options.url(), e.getClass().getName()),
              null);
        }
        retry = System.nanoTime() + pause;
        pause = longer(pause);
      }
      sleepUntil(!waits || retry - due > 0 ? due : retry);
    }
  }

  private long longer(long pause) {
    return Math.min(2 * pause, Math.max(options.interval().toNanos(), pause));
  }

  private synchronized void sleepUntil(long nanos) {
    try {
      for (long left; goesOn() && (left = nanos - System.nanoTime()) > 0; ) {
        wait(left / 1_000_000 + 1);
      }
    } catch (InterruptedException e) {
      // The application may interrupt all threads, so an interrupt only ends this sleep. close()
      // ends the thread.
      return;
    }
  }

  private void take() throws IOException {
    CallSites now = mallometer.sites().read();
    @Nullable CallSites last = before.orElse(null);
    before = now.sites().isEmpty() ? Optional.empty() : Optional.of(now);
    if (last == null || before.isEmpty() || !last.time().isBefore(now.time())) {
      return;
    }
    ByteArrayOutputStream profile = new ByteArrayOutputStream();
    ReportFormat.writeInterval(last, now, profile);
    waiting.addLast(profile.toByteArray());
    while (waiting.size() > MOST_WAITING || bytesWaiting() > MOST_WAITING_BYTES) {
      waiting.removeFirst();
      dropped++;
    }
  }

  private long bytesWaiting() {
    return waiting.stream().mapToLong(profile -> profile.length).sum();
  }

  /** Sends the waiting profiles, oldest first. Returns false if the store takes none for now. */
  private boolean send() {
    for (byte[] profile; (profile = waiting.peekFirst()) != null && goesOn(); ) {
      try {
        String refusal = store.push(profile);
        if (refusal.isEmpty()) {
          sent++;
          failure.rearm();
        } else {
          dropped++;
          failure.warn(
              "%s refused a profile, which is dropped: %s".formatted(options.url(), refusal), null);
        }
        waiting.removeFirst();
      } catch (IOException e) {
        if (!goesOn()) {
          return false; // pause() or close() has closed the connection
        }
        failure.warn(
            "A profile cannot be pushed to %s: %s. mallometer sends it again; at most ten profiles wait."
                .formatted(options.url(), e.getMessage() == null ? e : e.getMessage()),
            null);
        return false;
      }
    }
    return true;
  }
}
