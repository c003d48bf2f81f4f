package io.mallometer.internal.process;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Numbers of threads and classes, which explain memory.
 *
 * @param threads live Java threads
 * @param pools live Java threads by name, with {@code #} for each number in it; empty if there are
 *     more than {@value #MOST_THREADS}
 * @param classes loaded classes
 */
public record ProcessCounts(int threads, Map<String, Integer> pools, int classes) {

  /** The most threads whose names are read, at about a microsecond each. */
  private static final int MOST_THREADS = 10_000;

  private static final Pattern NUMBER = Pattern.compile("\\d+");

  /** Counts of 0. */
  public static final ProcessCounts NONE = new ProcessCounts(0, Map.of(), 0);

  public ProcessCounts {
    pools = Map.copyOf(pools);
  }

  /** Reads the counts of this JVM. */
  public static ProcessCounts read() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return new ProcessCounts(
        threads.getThreadCount(),
        threads.getThreadCount() > MOST_THREADS ? Map.of() : pools(threads),
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
  }

  private static Map<String, Integer> pools(ThreadMXBean threads) {
    Map<String, Integer> pools = new HashMap<>();
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null) {
        pools.merge(NUMBER.matcher(thread.getThreadName()).replaceAll("#"), 1, Integer::sum);
      }
    }
    return pools;
  }
}
