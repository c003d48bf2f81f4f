package io.mallometer.internal.gate;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The results that JMH writes with {@code -rf json}. Each iteration of each fork is a sample. The
 * benchmark's own score becomes the metric {@code score}. Leaves out textual results and results
 * without samples, such as those of the mode {@code sample}.
 */
final class JmhResults {

  private static final String BENCHMARK = "benchmark";
  private static final String PRIMARY = "primaryMetric";
  private static final String RAW = "rawData";

  private static final String MARK = "·";

  /** The unit of textual results, such as those of JMH's stack profiler. */
  private static final String TEXT = "---";

  private JmhResults() {}

  static boolean are(JsonArray array) {
    return !array.isEmpty()
        && array.get(0) instanceof JsonObject first
        && first.has(BENCHMARK)
        && first.has(PRIMARY);
  }

  static void read(JsonFile file, JsonArray array, Results to) throws UnusableResultsException {
    Map<String, Set<String>> modes = new HashMap<>();
    for (JsonElement element : array) {
      JsonObject run = file.object(element, "a benchmark");
      modes
          .computeIfAbsent(name(file, run), name -> new HashSet<>())
          .add(file.text(run, "mode", "a benchmark"));
    }
    for (JsonElement element : array) {
      JsonObject run = element.getAsJsonObject();
      String name = name(file, run);
      if (modes.getOrDefault(name, Set.of()).size() > 1) {
        name += " " + file.text(run, "mode", name);
      }
      add(file, new Key(name, "score"), file.object(run, PRIMARY, name), to);
      if (run.has("secondaryMetrics")) {
        JsonObject metrics = file.object(run, "secondaryMetrics", name);
        for (String metric : metrics.keySet()) {
          String plain = metric.startsWith(MARK) ? metric.substring(MARK.length()) : metric;
          add(file, new Key(name, plain), file.object(metrics, metric, name), to);
        }
      }
    }
  }

  private static String name(JsonFile file, JsonObject run) throws UnusableResultsException {
    String name = file.text(run, BENCHMARK, "a benchmark");
    if (!run.has("params")) {
      return name;
    }
    return file.object(run, "params", name).entrySet().stream()
        .map(parameter -> parameter.getKey() + "=" + plain(parameter.getValue()))
        .sorted()
        .collect(Collectors.joining(",", name + "[", "]"));
  }

  private static String plain(JsonElement value) {
    return value.isJsonPrimitive() ? value.getAsString() : value.toString();
  }

  private static void add(JsonFile file, Key key, JsonObject metric, Results to)
      throws UnusableResultsException {
    if (!metric.has(RAW)) {
      return;
    }
    String unit = file.text(metric, "scoreUnit", key.toString());
    if (unit.equals(TEXT)) {
      return;
    }
    List<JsonElement> samples = new ArrayList<>();
    for (JsonElement fork : file.array(metric, RAW, key.toString())) {
      if (!(fork instanceof JsonArray iterations)) {
        throw file.unusable(key + ": \"" + RAW + "\" is not an array of arrays");
      }
      samples.addAll(iterations.asList());
    }
    to.add(file, key, unit, samples);
  }
}
