package io.mallometer.jmh;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Executor of the threads that run a benchmark. It measures each iteration in a scope, which does
 * not include what other threads allocate meanwhile, such as HotSpot's compilers. So the same code
 * gives the same counts.
 *
 * <p>JMH makes it for {@code -Djmh.executor=CUSTOM -Djmh.executor.class=...}, which {@link
 * NativeMemoryProfiler} adds. Thread-safe.
 */
public final class CountingExecutor extends AbstractExecutorService {

  /** What the tasks that ended since the latest {@link #take()} have used. */
  private static final Tally TALLY = new Tally();

  private final ExecutorService threads;
  private final Mallometer mallometer = Mallometer.open();

  /**
   * Called by JMH.
   *
   * @param most how many threads
   * @param prefix of their names
   */
  public CountingExecutor(int most, String prefix) {
    AtomicInteger number = new AtomicInteger();
    this.threads =
        Executors.newFixedThreadPool(
            most,
            task -> {
              Thread thread = new Thread(task, prefix + "-jmh-worker-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  private static final class Tally {
    private Use sum = Use.NOTHING;
    private boolean used;

    synchronized void add(Use use) {
      sum = sum.plus(use);
      used = true;
    }

    synchronized Use take() {
      Use taken = sum;
      sum = Use.NOTHING;
      return taken;
    }

    synchronized boolean isUsed() {
      return used;
    }
  }

  /** Whether any task ran here. */
  static boolean isUsed() {
    return TALLY.isUsed();
  }

  /** Returns what tasks have used since the latest call. */
  static Use take() {
    return TALLY.take();
  }

  /** Within the future, so that all is told when that has ended. */
  @Override
  protected <T> RunnableFuture<T> newTaskFor(Callable<T> task) {
    return super.newTaskFor(() -> count(task));
  }

  private <T> T count(Callable<T> task) throws Exception {
    NativeScope scope = mallometer.counting().threadScope();
    try {
      return task.call();
    } finally {
      scope.close();
      TALLY.add(Use.of(scope));
    }
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  @Override
  public void shutdown() {
    threads.shutdown();
    mallometer.close();
  }

  @Override
  public List<Runnable> shutdownNow() {
    mallometer.close();
    return threads.shutdownNow();
  }

  @Override
  public boolean isShutdown() {
    return threads.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return threads.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return threads.awaitTermination(timeout, unit);
  }
}
