package io.mallometer.benchmarks.leaks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * Runs kernels side by side for a time.
 *
 * <p>Arguments: minutes of the kernels' time, how many times faster than the world's that runs, and
 * names such as {@code Leaking.Deflaters} of those to run, none for all. The property {@code
 * verdicts} names a file for what mallometer says of them, {@code trace} one for what that was made
 * of.
 */
public final class Kernels {

  /**
   * The kernels make hardly any garbage, so that the collector would never run by itself, and
   * memory of classes and buffers that are garbage would be held for a reason that no program has.
   */
  private static final Duration COLLECTED = Duration.ofMinutes(3);

  private Kernels() {}

  public static void main(String[] arguments) throws InterruptedException {
    Duration duration = Duration.ofMillis((long) (60_000 * Double.parseDouble(arguments[0])));
    double scale = Double.parseDouble(arguments[1]);
    Pace pace = new Pace(scale);
    List<String> names = Arrays.asList(arguments).subList(2, arguments.length);
    String verdicts = System.getProperty("verdicts");
    String trace = System.getProperty("trace");
    TraceLog recorder = trace == null ? null : TraceLog.start(Path.of(trace), pace, scale);
    VerdictLog log = verdicts == null ? null : new VerdictLog(Path.of(verdicts), pace, scale);
    all()
        .forEach(
            (name, maker) -> {
              if (names.isEmpty() || names.contains(name)) {
                new KernelThread(name, maker, pace).start();
              }
            });
    new KernelThread("requests", Requests::new, pace).start();
    for (Duration next = COLLECTED; next.compareTo(duration) < 0; next = next.plus(COLLECTED)) {
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

  private static String name(Class<? extends Kernel> kernel) {
    return kernel.getEnclosingClass().getSimpleName() + "." + kernel.getSimpleName();
  }

  /** Garbage as requests make it: without, the heap would keep what was written first for ever. */
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
}
