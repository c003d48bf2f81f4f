package io.mallometer.internal.process;

import io.mallometer.model.ThreadStacks;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Numbers of threads and classes, which explain memory.
 *
 * @param threads live Java threads
 * @param endedThreads threads that ended since the JVM started; {@code NaN} if unknown
 * @param pools live Java threads by name, with {@code #} for each number in it
 * @param classes loaded classes
 */
public record ProcessCounts(
    int threads, double endedThreads, Map<String, Integer> pools, int classes) {

  /** The most pools in a count. A pool that is not in it has an unknown number of threads. */
  private static final int MOST_POOLS = 100;

  /** Counts of 0. */
  public static final ProcessCounts NONE = new ProcessCounts(0, Double.NaN, Map.of(), 0);

  public ProcessCounts {
    pools = Map.copyOf(pools);
  }

  /** Reads the counts of this JVM, without pools. */
  public static ProcessCounts read() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    int live = threads.getThreadCount();
    return new ProcessCounts(
        live,
        threads.getTotalStartedThreadCount() - live,
        Map.of(),
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
  }

  /** Returns these counts with the largest pools of several threads, read at the same time. */
  public ProcessCounts with(ThreadStacks stacks) {
    return new ProcessCounts(
        threads,
        endedThreads,
        stacks.allPools().stream()
            .filter(pool -> pool.threads() > 1)
            .sorted(Comparator.comparingInt(ThreadStacks.ThreadPool::threads).reversed())
            .limit(MOST_POOLS)
            .collect(
                Collectors.toMap(ThreadStacks.ThreadPool::name, ThreadStacks.ThreadPool::threads)),
        classes);
  }
}
