package io.mallometer.preload;

import com.sun.management.ThreadMXBean;
import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Deflater;

/**
 * Measures the cost of a poll: {@code LD_PRELOAD=libmallometer.so java -cp ... PollCost [THREADS]}.
 *
 * <p>Starts threads (1,000 by default) that allocate native memory and stay alive. Prints the
 * median time of a poll, the 99th percentile, and the garbage of one poll in bytes.
 */
public final class PollCost {

  private static final int POLLS = 20_000;

  /**
   * The result: {@code threads} is the number of threads that the library counted, and {@code
   * bytes} is the Java heap that one poll allocated.
   */
  public record Result(int threads, double medianMicros, double p99Micros, double bytes) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d threads: a poll takes %.1f us (median; 99th percentile %.1f us) and allocates %.0f"
              + " bytes",
          threads,
          medianMicros,
          p99Micros,
          bytes);
    }
  }

  private PollCost() {}

  public static void main(String[] arguments) throws Exception {
    int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000;
    System.out.println(measure(threads));
  }

  static Result measure(int threads) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    startAllocatingThreads(threads, done);
    MallometerOptions rarely =
        MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofHours(1));
    try (Mallometer mallometer = Mallometer.open(rarely)) {
      if (!mallometer.status().active()) {
        throw new IllegalStateException(mallometer.status().toString());
      }
      polls(mallometer);
      return polls(mallometer);
    } finally {
      done.countDown();
    }
  }

  private static void startAllocatingThreads(int threads, CountDownLatch done)
      throws InterruptedException {
    CountDownLatch allocated = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      Thread thread = new Thread(null, () -> allocateAndWait(allocated, done), "load", 64 << 10);
      thread.setDaemon(true);
      thread.start();
    }
    allocated.await();
  }

  private static void allocateAndWait(CountDownLatch allocated, CountDownLatch done) {
    new Deflater().end();
    allocated.countDown();
    try {
      done.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Result polls(Mallometer mallometer) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    long[] nanos = new long[POLLS];
    long before = threads.getThreadAllocatedBytes(self);
    for (int i = 0; i < POLLS; i++) {
      long start = System.nanoTime();
      mallometer.poll();
      nanos[i] = System.nanoTime() - start;
    }
    double bytes = (threads.getThreadAllocatedBytes(self) - before) / (double) POLLS;
    Arrays.sort(nanos);
    return new Result(
        mallometer.snapshot().process().orElseThrow().threads(),
        nanos[POLLS / 2] / 1e3,
        nanos[POLLS / 100 * 99] / 1e3,
        bytes);
  }
}
