package io.mallometer.internal.engine;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.model.NativeCounters;
import java.util.Optional;
import java.util.function.Supplier;

/** The counters of the thread that created this, for nobody but that thread. */
public final class OwnThread implements Supplier<Optional<NativeCounters>> {

  private final Interposer interposer;
  private final Thread owner = Thread.currentThread();

  public OwnThread(Interposer interposer) {
    this.interposer = interposer;
  }

  @Override
  public Optional<NativeCounters> get() {
    return Thread.currentThread() == owner && !isVirtual(owner)
        ? interposer.thread()
        : Optional.empty();
  }

  /** {@code Thread.isVirtual()} came with JDK 21; all virtual threads are in this one group. */
  public static boolean isVirtual(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    return group != null && group.getName().equals("VirtualThreads");
  }
}
