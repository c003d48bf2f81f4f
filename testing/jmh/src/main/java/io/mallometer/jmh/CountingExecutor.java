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
 * Runs the threads of a benchmark and counts the native memory of each. Other threads, such as
 * HotSpot's compilers, are not counted, so that the same code gives the same counts.
 *
 * <p>{@link NativeMemoryProfiler} makes JMH create this executor, with {@code -Djmh.executor=CUSTOM
 * -Djmh.executor.class=...}. Thread-safe.
 */
public final class CountingExecutor extends AbstractExecutorService {

  private static final Tally TALLY = new Tally();

  private final ExecutorService threads;
  private final Mallometer mallometer = Mallometer.open();

  /**
   * Called by JMH.
   *
   * @param most the largest number of threads
   * @param prefix the beginning of the threads' names
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

  static boolean isUsed() {
    return TALLY.isUsed();
  }

  /**
   * Returns the native memory of the tasks that ended since the previous call, and resets the sum
   * to zero.
   */
  static Use take() {
    return TALLY.take();
  }

  /** Counts inside the task, so that the counts are complete when the future is done. */
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
