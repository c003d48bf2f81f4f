package io.mallometer.junit;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** What a test used, by metric: the names are those of the JMH profiler. */
final class Figures {

  private static final String KEPT = "native.alloc.kept";

  private static final String BYTES = "B";
  private static final String CALLS = "calls";

  /**
   * Of one metric.
   *
   * @param samples one for each run that counts
   */
  record Samples(String unit, double[] samples) {}

  private final Map<String, Samples> byMetric = new TreeMap<>();

  Map<String, Samples> byMetric() {
    return byMetric;
  }

  /** Adds what runs used. */
  void add(List<NativeUse> uses) {
    add("native.alloc.calls", CALLS, uses, NativeUse::calls);
    add("native.alloc.small", CALLS, uses, NativeUse::small);
    add("native.alloc.large", CALLS, uses, NativeUse::large);
    add("native.alloc.bytes", BYTES, uses, NativeUse::bytes);
    add("native.alloc.peak", BYTES, uses, NativeUse::peak);
    add("native.free.calls", CALLS, uses, NativeUse::frees);
    add(KEPT, BYTES, uses, NativeUse::kept);
  }

  /** Adds what each run kept, in bytes, instead of what was known of that before. */
  void addKept(double... bytes) {
    add(KEPT, BYTES, bytes);
  }

  /** What is not known is left out. */
  void forgetKept() {
    byMetric.remove(KEPT);
  }

  private void add(
      String metric, String unit, List<NativeUse> uses, ToDoubleFunction<NativeUse> figure) {
    add(metric, unit, uses.stream().mapToDouble(figure).toArray());
  }

  /** A metric that was not measured in each run is left out. */
  private void add(String metric, String unit, double[] samples) {
    if (samples.length > 0 && Arrays.stream(samples).allMatch(Double::isFinite)) {
      byMetric.put(metric, new Samples(unit, samples));
    }
  }
}
