package io.mallometer;

import io.mallometer.interposer.Interposer;
import io.mallometer.process.MemorySource;
import java.time.Clock;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The facade: native memory of this process, as the preloaded library counts it.
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
  }

  private final Poller poller;
  private final Poller.Lease lease;
  private final AtomicBoolean closed = new AtomicBoolean();

  Mallometer(Poller poller, MallometerOptions options) {
    this.poller = poller;
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
   * Calls {@code listener} after each poll, on the thread that polled. What it throws is logged and
   * dropped. Without the library nothing polls, except callers of {@link #poll()}.
   */
  public Subscription onPoll(Consumer<Snapshot> listener) {
    Consumer<Snapshot> own = listener::accept;
    poller.subscribe(own);
    return () -> poller.unsubscribe(own);
  }

  /** The clock that {@link Snapshot#time()} is taken from. */
  public Clock clock() {
    return poller.clock();
  }

  /**
   * Ends this facade's part in the poller, which stops when the last facade closes. The latest
   * snapshot, {@link #poll()} and brackets go on working. Does nothing the second time.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      poller.release(lease);
    }
  }
}
