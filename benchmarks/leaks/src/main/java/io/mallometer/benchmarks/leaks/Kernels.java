package io.mallometer.benchmarks.leaks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs kernels side by side for a time.
 *
 * <p>Arguments: the minutes of the kernels' time, the factor by which it is faster than the real
 * time, and names such as {@code Leaking.Deflaters}. Without names all kernels without a stated
 * truth run; {@code Stated} runs all with one. Property {@code verdicts} names a file for
 * mallometer's verdicts, {@code trace} one for their evidence. Property {@code threads} is a number
 * of additional threads that wait for work. Kernels with a stated truth run with {@code liveMiB} of
 * Java objects that are replaced in turn, and without requests for collections.
 */
public final class Kernels {

  /**
   * The time between requests for a collection. With the kernels' little garbage none would run by
   * itself, and memory of dead classes and buffers would stay, unlike in real programs.
   */
  private static final Duration COLLECTED = Duration.ofMinutes(3);

  private Kernels() {}

  public static void main(String[] arguments) throws InterruptedException {
    Duration duration = Duration.ofMillis((long) (60_000 * Double.parseDouble(arguments[0])));
    double scale = Double.parseDouble(arguments[1]);
    Pace pace = new Pace(scale);
    List<String> names = Arrays.asList(arguments).subList(2, arguments.length);
    boolean stated = names.contains("Stated");
    List<Stated> stating = new CopyOnWriteArrayList<>();
    String verdicts = System.getProperty("verdicts");
    String trace = System.getProperty("trace");
    addWaitingThreads(Integer.getInteger("threads", 0));
    if (stated) {
      new KernelThread("live objects", LiveObjects::new, pace).start();
      startStated(stating, pace);
    }
    all()
        .forEach(
            (name, maker) -> {
              if (names.isEmpty() || names.contains(name)) {
                new KernelThread(name, maker, pace).start();
              }
            });
    new KernelThread("requests", Requests::new, pace).start();
    pace.until(Duration.ofSeconds(Integer.getInteger("openAfter", 0)));
    VerdictLog log =
        verdicts == null ? null : new VerdictLog(Path.of(verdicts), pace, scale, stating);
    TraceLog recorder = trace == null ? null : TraceLog.start(Path.of(trace), pace, scale);
    for (Duration next = COLLECTED;
        !stated && next.compareTo(duration) < 0;
        next = next.plus(COLLECTED)) {
      pace.until(next);
      System.gc();
    }
    pace.until(duration);
    pace.end();
    if (recorder != null) {
      recorder.join();
    }
    if (log != null) {
      log.close();
    }
  }

  private static void startStated(List<Stated> stating, Pace pace) {
    Stream.of(StatedLeaks.ALL, StatedLookAlikes.ALL)
        .flatMap(List::stream)
        .forEach(
            type ->
                new KernelThread(
                        name(type),
                        () -> {
                          Stated kernel = type.getDeclaredConstructor().newInstance();
                          stating.add(kernel);
                          return kernel;
                        },
                        pace)
                    .start());
  }

  private static void addWaitingThreads(int count) {
    if (count > 0) {
      ThreadPoolExecutor pool =
          new ThreadPoolExecutor(
              count, count, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), KernelThread::daemon);
      pool.prestartAllCoreThreads();
    }
  }

  private static Map<String, Callable<Kernel>> all() {
    Map<String, Callable<Kernel>> kernels = new LinkedHashMap<>();
    Stream.of(Leaking.ALL, Losing.ALL, Healthy.ALL)
        .flatMap(List::stream)
        .forEach(
            type -> kernels.put(name(type), () -> type.getDeclaredConstructor().newInstance()));
    LookAlikes.ALL.forEach(
        plan -> kernels.put("LookAlikes." + plan.name(), () -> new LookAlike(plan)));
    return kernels;
  }

  static String name(Class<? extends Kernel> kernel) {
    return kernel.getEnclosingClass().getSimpleName() + "." + kernel.getSimpleName();
  }

  /** Makes garbage like requests; otherwise the heap would keep its first content for ever. */
  private static final class Requests implements Kernel {
    private volatile byte[] latest = {};

    @Override
    public Duration period() {
      return Duration.ofMillis(20);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i < 20; i++) {
        latest = new byte[10_000];
      }
    }
  }

  /** Replaces Java objects within an hour; otherwise old objects would never be collected. */
  private static final class LiveObjects implements Kernel {
    private static final int BYTES = 10_000;

    private final byte[][] objects = new byte[Integer.getInteger("liveMiB", 32) * 105][];
    private int next;

    LiveObjects() {
      Arrays.setAll(objects, i -> new byte[BYTES]);
    }

    @Override
    public Duration period() {
      return Duration.ofMillis(50);
    }

    @Override
    public void step(Duration age) {
      for (int i = 0; i <= objects.length / 72_000; i++) {
        objects[next] = new byte[BYTES];
        next = (next + 1) % objects.length;
      }
    }
  }
}
