package io.mallometer.internal.engine;

import io.mallometer.internal.leak.LeakWatch;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Snapshot;
import java.util.Optional;

/** Evaluates the call sites for leaks while allocations are counted. */
final class LeakReader implements SnapshotReader {

  private final LeakWatch watch;
  private final NativeLibrary library;

  /**
   * Whether there was no reading since the library was attached. The next reading may be of a
   * snapshot from before the attach.
   */
  private boolean justAttached;

  LeakReader(LeakWatch watch, NativeLibrary library) {
    this.watch = watch;
    this.library = library;
  }

  @Override
  public String failure() {
    return "Call sites cannot be judged; the last verdicts stay";
  }

  @Override
  public int firstPoll() {
    return 2;
  }

  @Override
  public synchronized void read(Snapshot soFar) {
    boolean mayBeFromBefore = justAttached;
    justAttached = false;
    if (!soFar.status().active()) {
      if (!mayBeFromBefore) {
        watch.suspend(soFar.status().reason());
      }
    } else if (library.present()) {
      watch.evaluateIfDue(soFar.process().map(NativeCounters::threads).orElse(0));
    }
  }

  @Override
  public Snapshot show(Snapshot snapshot) {
    Optional<LeakSummary> leaks = watch.summary();
    return leaks.isPresent() && snapshot.status().active() ? snapshot.with(leaks.get()) : snapshot;
  }

  @Override
  public void configure(Optional<MallometerOptions> options) {
    if (options.isPresent()) {
      watch.configure(options.get());
    } else {
      watch.end();
    }
  }

  @Override
  public synchronized void attached() {
    justAttached = true;
    watch.resume();
  }

  @Override
  public void suspend() {
    watch.stopObserving();
  }
}
