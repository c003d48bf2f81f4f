package io.mallometer.internal.process;

import io.mallometer.model.ThreadStacks;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The numbers of threads and classes of this JVM, which explain growth of memory.
 *
 * @param threads the number of live Java threads
 * @param endedThreads the number of threads that ended since the JVM started; {@code NaN} if
 *     unknown
 * @param pools the number of live Java threads by thread name; {@code #} stands for each number in
 *     a name
 * @param classes the number of loaded classes
 */
public record ProcessCounts(
    int threads, double endedThreads, Map<String, Integer> pools, int classes) {

  private static final int MOST_POOLS = 100;

  public static final ProcessCounts NONE = new ProcessCounts(0, Double.NaN, Map.of(), 0);

  public ProcessCounts {
    pools = Map.copyOf(pools);
  }

  /** Reads the counts of this JVM, except {@code pools}, which stays empty. */
  public static ProcessCounts read() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    int live = threads.getThreadCount();
    return new ProcessCounts(
        live,
        threads.getTotalStartedThreadCount() - live,
        Map.of(),
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
  }

  /**
   * Returns these counts with the sizes of the largest thread pools in {@code stacks}, which was
   * read at the same time as these counts. Pools of one thread are left out.
   */
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
