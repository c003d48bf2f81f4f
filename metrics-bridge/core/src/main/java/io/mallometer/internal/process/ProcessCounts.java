package io.mallometer.internal.process;

import io.mallometer.model.ThreadStacks;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Numbers of threads and classes, which explain memory.
 *
 * @param threads live Java threads
 * @param pools live Java threads by name, with {@code #} for each number in it
 * @param classes loaded classes
 */
public record ProcessCounts(int threads, Map<String, Integer> pools, int classes) {

  /** Counts of 0. */
  public static final ProcessCounts NONE = new ProcessCounts(0, Map.of(), 0);

  public ProcessCounts {
    pools = Map.copyOf(pools);
  }

  /** Reads the counts of this JVM, without pools. */
  public static ProcessCounts read() {
    return new ProcessCounts(
        ManagementFactory.getThreadMXBean().getThreadCount(),
        Map.of(),
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
  }

  /** Returns these counts with the pools that were read at the same time. */
  public ProcessCounts with(ThreadStacks stacks) {
    return new ProcessCounts(
        threads,
        stacks.pools().stream()
            .collect(
                Collectors.toMap(ThreadStacks.ThreadPool::name, ThreadStacks.ThreadPool::threads)),
        classes);
  }
}
