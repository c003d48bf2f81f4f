package io.mallometer.junit;

import io.mallometer.model.ScopeCounts;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * The native memory that a test used, by metric. The metrics have the names of the JMH profiler.
 */
final class UseByMetric {

  private static final String KEPT = "native.alloc.kept";

  private static final String BYTES = "B";
  private static final String CALLS = "calls";

  /** The figures of one metric, one for each measured run. Warm-ups are left out. */
  record Samples(String unit, double[] samples) {}

  private final Map<String, Samples> byMetric = new TreeMap<>();

  Map<String, Samples> byMetric() {
    return byMetric;
  }

  void add(List<ScopeCounts> uses) {
    add("native.alloc.calls", CALLS, uses, ScopeCounts::calls);
    add("native.alloc.small", CALLS, uses, ScopeCounts::smallCalls);
    add("native.alloc.large", CALLS, uses, ScopeCounts::largeCalls);
    add("native.alloc.bytes", BYTES, uses, ScopeCounts::requestedBytes);
    add("native.alloc.peak", BYTES, uses, ScopeCounts::peakBytes);
    add("native.free.calls", CALLS, uses, ScopeCounts::frees);
    add(KEPT, BYTES, uses, ScopeCounts::netBytes);
  }

  void addKept(double... bytes) {
    add(KEPT, BYTES, bytes);
  }

  void forgetKept() {
    byMetric.remove(KEPT);
  }

  private void add(
      String metric, String unit, List<ScopeCounts> uses, ToDoubleFunction<ScopeCounts> figure) {
    add(metric, unit, uses.stream().mapToDouble(figure).toArray());
  }

  private void add(String metric, String unit, double[] samples) {
    if (samples.length > 0 && Arrays.stream(samples).allMatch(Double::isFinite)) {
      byMetric.put(metric, new Samples(unit, samples));
    }
  }
}
