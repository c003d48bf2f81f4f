package io.mallometer.internal.leak;

import io.mallometer.internal.text.Log;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Calls a listener for each call site that becomes a leak, on another thread than the poller's. */
public final class NewLeakNotifier implements Consumer<Snapshot> {

  private record Key(String site, String library) {

    static Key of(SiteVerdict leak) {
      return new Key(leak.site().name(), leak.site().library());
    }
  }

  private final Supplier<LeakReport> reports;
  private final Consumer<SiteVerdict> listener;
  private final Executor executor;
  private volatile boolean closed;

  /** The leaks at the latest poll, which the listener already knows. Guarded by this. */
  private Set<Key> reported = Set.of();

  private final Log.Once failure = Log.MALLOMETER.once();

  public NewLeakNotifier(
      Supplier<LeakReport> reports, Consumer<SiteVerdict> listener, Executor executor) {
    this.reports = reports;
    this.listener = listener;
    this.executor = executor;
  }

  @Override
  public synchronized void accept(Snapshot snapshot) {
    if (closed) {
      return;
    }
    Map<Key, SiteVerdict> leaks = new HashMap<>();
    reports.get().leaks().forEach(leak -> leaks.putIfAbsent(Key.of(leak), leak));
    Set<Key> before = reported;
    reported = Set.copyOf(leaks.keySet());
    leaks.keySet().removeAll(before);
    if (!leaks.isEmpty()) {
      executor.execute(() -> leaks.values().forEach(this::report));
    }
  }

  public void close() {
    closed = true;
  }

  private void report(SiteVerdict leak) {
    if (closed) {
      return;
    }
    try {
      listener.accept(leak);
    } catch (Throwable e) {
      failure.warn(
          "A listener of leaks threw an exception. It stays subscribed; further failures are not"
              + " logged.",
          e);
    }
  }
}
