package io.mallometer.benchmarks.pools;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PoolReport;
import io.mallometer.model.Setting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Handles 100 requests a second, each with a buffer of 8 KiB. One buffer in 50 is kept: for ever if
 * the handler leaks, otherwise for some seconds. A burst of buffers at the start lets the pool
 * allocate chunks. One buffer in 500 of the burst is never released, so that the chunks stay in
 * use.
 *
 * <p>Arguments: {@code leaking}, or the seconds for which a buffer is kept; {@code pooled}, {@code
 * adaptive} or {@code webflux}; the minutes to run; optionally a value for {@link
 * Setting#POOLS_NETTY_SAMPLING_INTERVAL}. Prints the report every ten seconds. At the end prints
 * two shares of a processor: the share that mallometer's readings of pools took, and the share of
 * the thread {@code mallometer-poller}, which also does other work.
 */
public final class Handler {

  private static final int REQUESTS_PER_SECOND = 100;
  private static final int KEPT = 50;
  static final int BYTES = 8192;
  private static final int BURST = 5_000;
  private static final int PINNING = 500;

  private Handler() {}

  interface Requests extends AutoCloseable {

    void serve(boolean keeps) throws Exception;

    /** Releases the oldest kept buffers until at most {@code most} are kept. */
    void expire(int most);

    int kept();

    @Override
    default void close() {}
  }

  /** Serves requests without a network. */
  private static final class SessionStore implements Requests {
    private final ByteBufAllocator allocator;
    private final Deque<ByteBuf> sessions = new ArrayDeque<>();

    SessionStore(ByteBufAllocator allocator) {
      this.allocator = allocator;
    }

    @Override
    public void serve(boolean keeps) {
      if (keeps) {
        sessions.add(allocator.directBuffer(BYTES)); // KEEP
      } else {
        allocator.directBuffer(BYTES).release();
      }
    }

    @Override
    public void expire(int most) {
      while (sessions.size() > most) {
        sessions.remove().release();
      }
    }

    @Override
    public int kept() {
      return sessions.size();
    }
  }

  public static void main(String[] arguments) throws Exception {
    int most =
        arguments[0].equals("leaking")
            ? Integer.MAX_VALUE
            : Integer.parseInt(arguments[0]) * REQUESTS_PER_SECOND / KEPT;
    String kind = arguments[1];
    ByteBufAllocator allocator =
        switch (kind) {
          case "pooled" -> PooledByteBufAllocator.DEFAULT;
          case "adaptive" ->
              (ByteBufAllocator)
                  Class.forName("io.netty.buffer.AdaptiveByteBufAllocator")
                      .getConstructor()
                      .newInstance();
          default -> ByteBufAllocator.DEFAULT;
        };
    long minutes = Long.parseLong(arguments[2]);
    MallometerOptions options = MallometerOptions.defaults();
    if (arguments.length > 3) {
      options = options.with(Setting.POOLS_NETTY_SAMPLING_INTERVAL, Integer.valueOf(arguments[3]));
    }
    List<ByteBuf> burst = new ArrayList<>();
    List<ByteBuf> pinning = new ArrayList<>();
    for (int i = 0; i < BURST; i++) {
      (i % PINNING == 0 ? pinning : burst).add(allocator.directBuffer(BYTES));
    }
    burst.forEach(ByteBuf::release);
    long began = System.nanoTime();
    Map<Instant, Double> looks = new HashMap<>();
    try (Requests requests = requests(kind, allocator);
        Mallometer mallometer = Mallometer.open(options)) {
      for (int request = 0; seconds(began) < 60 * minutes; request++) {
        requests.serve(request % KEPT == 0);
        requests.expire(most);
        if (request % (10 * REQUESTS_PER_SECOND) == 0) {
          print(mallometer, began, looks);
        }
        long due = began + (request + 1) * 1_000_000_000L / REQUESTS_PER_SECOND;
        Thread.sleep(Math.max(0, (due - System.nanoTime()) / 1_000_000));
      }
      System.out.printf(
          Locale.ROOT,
          "end kept=%d looks=%.3f %% of a processor poller=%.3f %% longest-look=%.1f ms%n",
          requests.kept() + pinning.size(),
          100 * looks.values().stream().mapToDouble(Double::doubleValue).sum() / seconds(began),
          100 * pollerSeconds() / seconds(began),
          looks.values().stream().mapToDouble(Double::doubleValue).max().orElse(0) * 1e3);
    }
  }

  private static Requests requests(String kind, ByteBufAllocator allocator)
      throws ReflectiveOperationException {
    return kind.equals("webflux")
        ? (Requests)
            Class.forName("io.mallometer.benchmarks.pools.WebRequests")
                .getConstructor()
                .newInstance()
        : new SessionStore(allocator);
  }

  private static void print(Mallometer mallometer, long began, Map<Instant, Double> looks) {
    PoolReport report = mallometer.snapshot().pools().orElse(null);
    if (report == null) {
      System.out.printf("%4.0f s no pool%n", seconds(began));
      return;
    }
    for (PoolReport.Pool pool : report.pools()) {
      System.out.printf(Locale.ROOT, "%4.0f s %s%n", seconds(began), pool.sentence());
      for (PoolReport.BufferSite site : pool.bufferSites()) {
        if (site.tracks().oldestSeconds() >= 60) {
          System.out.printf(
              Locale.ROOT,
              "%4.0f s held: %.0f buffers from %s%n",
              seconds(began),
              site.buffers().value(),
              site.line());
        }
        if (site.hold().suspect()) {
          System.out.printf(
              Locale.ROOT, "%4.0f s suspect: %s%n", seconds(began), site.hold().sentence());
        }
      }
    }
    looks.put(report.time(), report.lookSeconds());
  }

  private static double seconds(long began) {
    return (System.nanoTime() - began) / 1e9;
  }

  private static double pollerSeconds() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    double nanos = 0;
    for (long id : threads.getAllThreadIds()) {
      if (threads.getThreadInfo(id) != null
          && threads.getThreadInfo(id).getThreadName().equals("mallometer-poller")) {
        nanos += threads.getThreadCpuTime(id);
      }
    }
    return nanos / 1e9;
  }
}
