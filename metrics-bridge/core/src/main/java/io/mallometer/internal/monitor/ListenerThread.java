package io.mallometer.internal.monitor;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Calls listeners on a daemon thread, which ends soon after the last call. */
public final class ListenerThread implements Executor {

  static final String NAME = "mallometer-listeners";

  private static final int IDLE_SECONDS = 5;

  /** Created with the first task, because most programs have none. Guarded by this. */
  private @Nullable ThreadPoolExecutor threads;

  @Override
  public synchronized void execute(Runnable task) {
    ThreadPoolExecutor made = threads;
    if (made == null) {
      made =
          new ThreadPoolExecutor(
              1,
              1,
              IDLE_SECONDS,
              TimeUnit.SECONDS,
              new LinkedBlockingQueue<>(),
              ListenerThread::newThread);
      made.allowCoreThreadTimeOut(true);
      threads = made;
    }
    made.execute(task);
  }

  /**
   * Executes work. If no thread can be started, calls {@code undo}, so that the next poll tries
   * again.
   */
  static void execute(Executor executor, Runnable work, Runnable undo) {
    boolean executed = false;
    try {
      executor.execute(work);
      executed = true;
    } finally {
      if (!executed) {
        undo.run();
      }
    }
  }

  private static Thread newThread(Runnable task) {
    Thread thread = new Thread(null, task, NAME, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(ListenerThread.class.getClassLoader());
    return thread;
  }
}
