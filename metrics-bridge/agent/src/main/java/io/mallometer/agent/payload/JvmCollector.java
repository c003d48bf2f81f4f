package io.mallometer.agent.payload;

import io.prometheus.client.Collector;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Collects the metrics of the JVM that dashboards and alerts need besides native memory: start
 * time, processors, threads and memory pools. The names are Micrometer's.
 */
final class JvmCollector extends Collector implements Collector.Describable {

  private static final double MILLIS_PER_SECOND = 1_000;

  private static final String START = "process_start_time_seconds";
  private static final String PROCESSORS = "system_cpu_count";
  private static final String THREADS = "jvm_threads_live_threads";
  private static final List<String> POOL_LABELS = List.of("area", "id");

  /**
   * The functions that read a memory pool's usage, by metric name. The value -1 means that the pool
   * has no maximum.
   */
  private static final Map<String, ToLongFunction<MemoryUsage>> POOLS =
      Map.of(
          "jvm_memory_used_bytes", MemoryUsage::getUsed,
          "jvm_memory_committed_bytes", MemoryUsage::getCommitted,
          "jvm_memory_max_bytes", MemoryUsage::getMax);

  @Override
  public List<MetricFamilySamples> collect() {
    List<MetricFamilySamples> families = new ArrayList<>();
    families.add(
        one(
            START,
            "Start time of the JVM, in seconds since 1970",
            ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_PER_SECOND));
    families.add(
        one(
            PROCESSORS,
            "Processors that the JVM may use",
            Runtime.getRuntime().availableProcessors()));
    families.add(
        one(THREADS, "Live threads", ManagementFactory.getThreadMXBean().getThreadCount()));
    POOLS.forEach((name, figure) -> families.add(pools(name, figure)));
    return families;
  }

  /** Returns the metric families without samples: nothing is read before the first scrape. */
  @Override
  public List<MetricFamilySamples> describe() {
    List<MetricFamilySamples> families = new ArrayList<>();
    for (String name : List.of(START, PROCESSORS, THREADS)) {
      families.add(family(name, "", List.of()));
    }
    POOLS.keySet().forEach(name -> families.add(family(name, "", List.of())));
    return families;
  }

  private static MetricFamilySamples pools(String name, ToLongFunction<MemoryUsage> figure) {
    List<MetricFamilySamples.Sample> samples = new ArrayList<>();
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      // A memory pool that is no longer valid has no usage.
      MemoryUsage usage = pool.getUsage();
      if (usage != null && figure.applyAsLong(usage) >= 0) {
        String area = pool.getType() == MemoryType.HEAP ? "heap" : "nonheap";
        List<String> labels = List.of(area, pool.getName());
        samples.add(
            new MetricFamilySamples.Sample(name, POOL_LABELS, labels, figure.applyAsLong(usage)));
      }
    }
    return family(name, "Memory pools of the JVM, by area and pool", samples);
  }

  private static MetricFamilySamples one(String name, String description, double value) {
    return family(
        name,
        description,
        List.of(new MetricFamilySamples.Sample(name, List.of(), List.of(), value)));
  }

  private static MetricFamilySamples family(
      String name, String description, List<MetricFamilySamples.Sample> samples) {
    return new MetricFamilySamples(name, Type.GAUGE, description, samples);
  }
}
