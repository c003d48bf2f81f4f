package io.mallometer.internal.gate;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Measured samples from one or several files. Samples of a metric from several files are merged,
 * because several runs show the spread better than one.
 *
 * <p>A file is the output of JMH with {@code -rf json}, the output of {@code mallometer report
 * --format json}, or an array of objects such as
 *
 * <pre>
 * {"name":"io.example.CodecTest.encode","metric":"native.alloc.bytes","unit":"B","samples":[4096,4100]}
 * </pre>
 *
 * which any program can write. Baselines are such arrays.
 */
public final class Results {

  private static final String NAME = "name";
  private static final String METRIC = "metric";
  private static final String UNIT = "unit";
  private static final String SAMPLES = "samples";

  record Samples(String unit, List<Double> values) {}

  private final Selection selection;
  private final SortedMap<Key, Samples> samples = new TreeMap<>();

  /** The metrics that are in the files but not selected, for messages. */
  private final SortedSet<String> leftOut = new TreeSet<>();

  private Results(Selection selection) {
    this.selection = selection;
  }

  /**
   * Reads files.
   *
   * @param paths files, or directories whose {@code *.json} are read
   * @throws UnusableResultsException if a file is malformed or has a number that is not finite, if
   *     two files give one metric different units, or if nothing is selected
   * @throws IOException if a file does not exist or cannot be read
   */
  public static Results read(List<Path> paths, Selection selection) throws IOException {
    Results results = new Results(selection);
    for (Path path : paths) {
      for (Path file : files(path)) {
        results.read(file);
      }
    }
    if (results.samples.isEmpty()) {
      throw new UnusableResultsException(results.nothing(paths));
    }
    return results;
  }

  private String nothing(List<Path> paths) {
    String where = paths.size() == 1 ? paths.get(0).toString() : "the " + paths.size() + " files";
    return leftOut.isEmpty()
        ? where + ": no results; check that the tests or benchmarks ran"
        : "%s: no metric matches %s; there are %s"
            .formatted(where, selection.metrics(), String.join(", ", leftOut));
  }

  private static List<Path> files(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      return List.of(path);
    }
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(file -> file.toString().endsWith(".json") && Files.isRegularFile(file))
          .filter(file -> !file.getFileName().toString().startsWith("."))
          .sorted()
          .toList();
    }
  }

  private void read(Path path) throws IOException {
    JsonFile file = new JsonFile(path);
    if (file.content() instanceof JsonArray array) {
      if (JmhResults.are(array)) {
        JmhResults.read(file, array, this);
      } else {
        readArray(file, array);
      }
    } else if (file.content() instanceof JsonObject object && ReportResults.are(object)) {
      ReportResults.read(file, object, this);
    } else {
      throw file.unusable(
          "the file holds no results; JMH writes them with -rf json, mallometer report with"
              + " --format json, and docs/reference/gates.md shows those of other programs");
    }
  }

  private void readArray(JsonFile file, JsonArray array) throws UnusableResultsException {
    int index = 0;
    for (JsonElement element : array) {
      String what = "result " + ++index;
      JsonObject result = file.object(element, what);
      file.onlyHas(result, Set.of(NAME, METRIC, UNIT, SAMPLES), what);
      add(
          file,
          new Key(file.text(result, NAME, what), file.text(result, METRIC, what)),
          file.text(result, UNIT, what),
          List.copyOf(file.array(result, SAMPLES, what).asList()));
    }
  }

  /** Adds samples if they are selected. Other samples are ignored without a check. */
  void add(JsonFile file, Key key, String unit, List<JsonElement> values)
      throws UnusableResultsException {
    if (!selection.has(key)) {
      leftOut.add(key.metric());
      return;
    }
    if (values.isEmpty()) {
      throw file.unusable(key + " has no samples");
    }
    Samples known = samples.computeIfAbsent(key, k -> new Samples(unit, new ArrayList<>()));
    if (!known.unit().equals(unit)) {
      throw file.unusable(
          "%s is in %s here and in %s in another file".formatted(key, unit, known.unit()));
    }
    int index = 0;
    for (JsonElement value : values) {
      known.values().add(file.number(value, "%s, sample %d".formatted(key, ++index)));
    }
  }

  /** Returns the figures of each metric, for use as the expected figures of a comparison. */
  public SortedMap<Key, Expected> expected() {
    SortedMap<Key, Expected> expected = new TreeMap<>();
    samples.forEach(
        (key, measured) ->
            expected.put(key, new Expected(measured.unit(), Distribution.of(measured.values()))));
    return expected;
  }

  public int size() {
    return samples.values().stream().mapToInt(measured -> measured.values().size()).sum();
  }

  String json() {
    StringBuilder json = new StringBuilder("[");
    for (Map.Entry<Key, Samples> entry : samples.entrySet()) {
      JsonObject line = new JsonObject();
      line.addProperty(NAME, entry.getKey().name());
      line.addProperty(METRIC, entry.getKey().metric());
      line.addProperty(UNIT, entry.getValue().unit());
      JsonArray values = new JsonArray();
      entry.getValue().values().forEach(value -> values.add(Numbers.written(value)));
      line.add(SAMPLES, values);
      json.append(json.length() > 1 ? ",\n" : "\n").append(line);
    }
    return json.append("\n]\n").toString();
  }
}
