package io.mallometer.internal.monitor;

import io.mallometer.internal.text.Log;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.HugeAllocationListener;
import io.mallometer.model.Snapshot;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Reports each huge request once to a listener, on another thread than the poller's.
 *
 * <p>The library keeps the latest 64 huge requests, and they are read at most once a second. A
 * listener may therefore miss some; the numbers of the requests show how many.
 */
public final class HugeAllocationWatch implements Consumer<Snapshot> {

  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final HugeAllocationListener listener;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final AtomicBoolean pending = new AtomicBoolean();

  private volatile List<HugeAllocation> latest = List.of();
  private volatile boolean closed;

  /** The number of the latest reported allocation. Written on the executor's one thread. */
  private volatile long latestReported;

  /** The time of the latest task. Guarded by this, as is {@link #called}. */
  private long lastCall;

  private boolean called;

  private final Log.Once failure = Log.MALLOMETER.once();

  public HugeAllocationWatch(
      HugeAllocationListener listener, Executor executor, LongSupplier nanoTime) {
    this.listener = listener;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  @Override
  public void accept(Snapshot snapshot) {
    List<HugeAllocation> known = snapshot.hugeAllocations();
    if (closed || known.isEmpty() || known.get(known.size() - 1).number() <= latestReported) {
      return;
    }
    latest = known;
    if (due() && pending.compareAndSet(false, true)) {
      ListenerThread.execute(executor, this::report, () -> pending.set(false));
    }
  }

  public void close() {
    closed = true;
  }

  private synchronized boolean due() {
    long now = nanoTime.getAsLong();
    if (called && now - lastCall < PAUSE_NANOS) {
      return false;
    }
    called = true;
    lastCall = now;
    return true;
  }

  private void report() {
    pending.set(false);
    for (HugeAllocation allocation : latest) {
      if (!closed && allocation.number() > latestReported) {
        long missed = allocation.number() - latestReported - 1;
        latestReported = allocation.number();
        report(allocation, missed);
      }
    }
  }

  private void report(HugeAllocation allocation, long missed) {
    try {
      listener.onHugeAllocation(allocation, missed);
    } catch (Throwable e) {
      failure.warn(
          "A listener of huge allocations threw an exception. It stays subscribed; further failures"
              + " are not logged.",
          e);
    }
  }
}
