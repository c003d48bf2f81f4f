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

public final class CountingExecutor extends AbstractExecutorService {

  /** The native memory used by the tasks that ended since the latest {@link #take()}. */
  private static final Tally TALLY = new Tally();

  private final ExecutorService threads;
  private final Mallometer mallometer = Mallometer.open();

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

  /**
   * Returns the native memory used by the tasks that ended since the latest call, and starts again
   * from zero.
   */
  static boolean isUsed() {
    return TALLY.isUsed();
  }

  /** Counts inside the task, so that the counts are complete when the future is done. */
  static Use take() {
    return TALLY.take();
  }

  /**
   * Profiler of the native memory that a benchmark allocates, for each operation:
   *
   * <pre>
   * java -jar benchmarks.jar -prof io.mallometer.jmh.NativeMemoryProfiler
   *
   * Benchmark                             Mode  Cnt      Score   Error  Units
   * Compression.deflate:native.alloc.bytes  avgt    5 268066.000 ± 0.001   B/op
   * </pre>
   *
   * <p>The profiler counts in the threads that run the benchmark, including JMH's own work in them.
   * {@code threads=all} counts the whole process, with HotSpot's own memory. Forks start with the
   * library preloaded. Without forks the library is attached, and the whole process is counted.
   */
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
