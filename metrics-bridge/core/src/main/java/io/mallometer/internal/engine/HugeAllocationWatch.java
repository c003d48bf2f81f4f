package io.mallometer.internal.engine;

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
 * Tells one listener of each huge request once, as the polls bring them.
 *
 * <p>The library numbers huge requests and keeps the latest 64, and the watch looks at them at most
 * once a second, so a listener is told of at most 64 a second however many there are; the numbers
 * tell how many it missed. It is told on another thread than the one that polls: a listener may be
 * slow.
 */
public final class HugeAllocationWatch implements Consumer<Snapshot> {

  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final HugeAllocationListener listener;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final AtomicBoolean pending = new AtomicBoolean();

  private volatile List<HugeAllocation> latest = List.of();
  private volatile boolean closed;

  /** The highest number that was told. Written on the executor's one thread. */
  private volatile long told;

  /** When the executor was last called, and whether it ever was; guarded by this. */
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
    if (closed || known.isEmpty() || known.get(known.size() - 1).number() <= told) {
      return;
    }
    latest = known;
    if (due() && pending.compareAndSet(false, true)) {
      hand();
    }
  }

  /** Where no thread can be started, the next poll tries again. */
  private void hand() {
    boolean handed = false;
    try {
      executor.execute(this::tell);
      handed = true;
    } finally {
      if (!handed) {
        pending.set(false);
      }
    }
  }

  /** Nothing is told any more. */
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

  private void tell() {
    pending.set(false);
    for (HugeAllocation allocation : latest) {
      if (!closed && allocation.number() > told) {
        long missed = allocation.number() - told - 1;
        told = allocation.number();
        tell(allocation, missed);
      }
    }
  }

  private void tell(HugeAllocation allocation, long missed) {
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
