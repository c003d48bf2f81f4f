package io.mallometer.internal.gate;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * The expected figures of a project, in files under version control.
 *
 * <p>Each test or benchmark has one file with all its metrics, in a fixed order, so that a review
 * shows one file for a changed test.
 *
 * <pre>
 * {
 *   "name": "io.example.Codec.deflate",
 *   "metrics": {
 *     "native.alloc.bytes": {
 *       "unit": "B/op",
 *       "tolerance": "strict",
 *       "p0": 1012,
 *       ...
 *       "p100": 1012
 *     }
 *   }
 * }
 * </pre>
 *
 * <p>A tolerance is a preset or {@code {"relative": 0.1, "absolute": 64, "percentiles": ["p50"]}}.
 * An update keeps it. Missing percentiles are not judged.
 */
public final class Thresholds {

  private static final String ENDING = ".json";
  private static final int LONGEST_NAME = 120;

  private static final String NAME = "name";
  private static final String METRICS = "metrics";
  private static final String UNIT = "unit";
  private static final String TOLERANCE = "tolerance";
  private static final String RELATIVE = "relative";
  private static final String ABSOLUTE = "absolute";
  private static final String PERCENTILES = "percentiles";

  private static final List<String> IN_METRIC =
      Stream.concat(
              Stream.of(UNIT, TOLERANCE), Arrays.stream(Percentile.values()).map(Percentile::id))
          .toList();

  private final Gson gson = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();
  private final Path directory;

  public Thresholds(Path directory) {
    this.directory = directory;
  }

  private record Stored(Path path, JsonFile file, SortedMap<String, JsonObject> metrics) {}

  /**
   * Reads the selected expected figures.
   *
   * @throws UnusableResultsException if a file is malformed or nothing is selected
   * @throws IOException if there are no thresholds, or they cannot be read
   */
  public SortedMap<Key, Expected> read(Selection selection) throws IOException {
    SortedMap<String, Stored> tests = stored();
    if (tests.isEmpty()) {
      throw new IOException(
          "there are no thresholds in "
              + directory
              + ". To write them: mallometer thresholds update, or with Maven -Dmallometer.update");
    }
    SortedMap<Key, Expected> selected = new TreeMap<>();
    for (Map.Entry<String, Stored> test : tests.entrySet()) {
      Stored stored = test.getValue();
      for (Map.Entry<String, JsonObject> metric : stored.metrics().entrySet()) {
        Key key = new Key(test.getKey(), metric.getKey());
        Expected expected = expected(stored.file(), metric.getValue(), key.metric());
        if (selection.has(key)) {
          selected.put(key, expected);
        }
      }
    }
    if (selected.isEmpty()) {
      throw new UnusableResultsException(
          "%s: no threshold matches %s".formatted(directory, selection.metrics()));
    }
    return selected;
  }

  private SortedMap<String, Stored> stored() throws IOException {
    SortedMap<String, Stored> tests = new TreeMap<>();
    for (Path path : files()) {
      JsonFile file = new JsonFile(path);
      JsonObject object = file.object(file.content(), "the file");
      file.onlyHas(object, Set.of(NAME, METRICS), "the file");
      String name = file.text(object, NAME, "the file");
      JsonObject metrics = file.object(object, METRICS, "the file");
      Stored stored = new Stored(path, file, new TreeMap<>());
      for (String metric : metrics.keySet()) {
        stored.metrics().put(metric, file.object(metrics, metric, metric));
      }
      if (tests.put(name, stored) != null) {
        throw file.unusable(name + " has thresholds in another file, too; delete one of them");
      }
    }
    return tests;
  }

  private List<Path> files() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.toString().endsWith(ENDING))
          .filter(file -> !file.getFileName().toString().startsWith("."))
          .sorted()
          .toList();
    }
  }

  private static Expected expected(JsonFile file, JsonObject metric, String what)
      throws UnusableResultsException {
    file.onlyHas(metric, Set.copyOf(IN_METRIC), what);
    SortedMap<Percentile, Double> values = new TreeMap<>();
    for (Percentile percentile : Percentile.values()) {
      JsonElement value = metric.get(percentile.id());
      if (value != null) {
        values.put(percentile, file.number(value, what + " " + percentile.id()));
      }
    }
    JsonElement tolerance = metric.get(TOLERANCE);
    return new Expected(
        file.text(metric, UNIT, what),
        new Distribution(values),
        tolerance == null ? Optional.empty() : Optional.of(tolerance(file, tolerance, what)));
  }

  private static Tolerance tolerance(JsonFile file, JsonElement value, String what)
      throws UnusableResultsException {
    String where = what + " tolerance";
    try {
      if (value instanceof JsonPrimitive preset && preset.isString()) {
        return Tolerance.Preset.of(preset.getAsString()).tolerance();
      }
      JsonObject object = file.object(value, where);
      file.onlyHas(object, Set.of(RELATIVE, ABSOLUTE, PERCENTILES), where);
      return new Tolerance(
          number(file, object, RELATIVE, where),
          number(file, object, ABSOLUTE, where),
          object.has(PERCENTILES)
              ? Tolerance.percentiles(
                  file.array(object, PERCENTILES, where).asList().stream()
                      .map(one -> one.isJsonPrimitive() ? one.getAsString() : one.toString())
                      .toList())
              : Tolerance.Preset.DEFAULT.tolerance().percentiles());
    } catch (IllegalArgumentException e) {
      throw file.unusable(where + ": " + e.getMessage());
    }
  }

  private static double number(JsonFile file, JsonObject in, String name, String where)
      throws UnusableResultsException {
    return in.has(name) ? file.number(in.get(name), where + " " + name) : 0;
  }

  /**
   * Writes results as the expected figures.
   *
   * <p>Tests that were not measured keep their figures, and measured metrics keep their tolerances.
   * A measured test loses the selected metrics that it no longer reports.
   *
   * @param selection the selection of the results; metrics that are not selected stay
   * @return the files whose content changed
   */
  public List<Path> update(Results results, Selection selection) throws IOException {
    SortedMap<String, Stored> tests = stored();
    SortedMap<String, SortedMap<String, JsonObject>> measured = new TreeMap<>();
    results
        .expected()
        .forEach(
            (key, expected) ->
                measured
                    .computeIfAbsent(key.name(), name -> new TreeMap<>())
                    .put(key.metric(), written(expected)));
    List<Path> changed = new ArrayList<>();
    for (Map.Entry<String, SortedMap<String, JsonObject>> test : measured.entrySet()) {
      String name = test.getKey();
      Stored old = tests.get(name);
      Path path = old == null ? directory.resolve(fileName(name)) : old.path();
      if (old != null) {
        old.metrics()
            .forEach(
                (metric, before) ->
                    keep(new Key(name, metric), before, selection, test.getValue()));
      }
      String content = content(name, test.getValue());
      if (!Files.exists(path) || !Files.readString(path).equals(content)) {
        WholeFile.write(path, content);
        changed.add(path);
      }
    }
    return changed;
  }

  /**
   * Copies from {@code before} the parts that an update must keep. A measured metric keeps its
   * tolerance. A metric that is neither measured nor selected is kept whole.
   */
  private static void keep(
      Key key, JsonObject before, Selection selection, SortedMap<String, JsonObject> metrics) {
    JsonObject after = metrics.get(key.metric());
    if (after != null && before.has(TOLERANCE)) {
      after.add(TOLERANCE, before.get(TOLERANCE));
    } else if (after == null && !selection.has(key)) {
      metrics.put(key.metric(), before);
    }
  }

  private static JsonObject written(Expected expected) {
    JsonObject metric = new JsonObject();
    metric.addProperty(UNIT, expected.unit());
    expected
        .distribution()
        .values()
        .forEach(
            (percentile, value) -> metric.addProperty(percentile.id(), Numbers.written(value)));
    return metric;
  }

  private String content(String name, SortedMap<String, JsonObject> metrics) {
    JsonObject file = new JsonObject();
    file.addProperty(NAME, name);
    JsonObject all = new JsonObject();
    metrics.forEach((metric, values) -> all.add(metric, inOrder(values)));
    file.add(METRICS, all);
    return gson.toJson(file) + "\n";
  }

  private static JsonObject inOrder(JsonObject metric) {
    JsonObject ordered = new JsonObject();
    IN_METRIC.stream().filter(metric::has).forEach(name -> ordered.add(name, metric.get(name)));
    return ordered;
  }

  /**
   * Returns a file name that every file system accepts. A hash of the test's name makes shortened
   * or changed names unique.
   */
  private static String fileName(String name) {
    String plain = name.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^\\.", "_");
    if (plain.equals(name) && plain.length() <= LONGEST_NAME) {
      return plain + ENDING;
    }
    CRC32 hash = new CRC32();
    hash.update(name.getBytes(StandardCharsets.UTF_8));
    String cut = plain.substring(0, Math.min(plain.length(), LONGEST_NAME));
    return "%s-%08x%s".formatted(cut, hash.getValue(), ENDING);
  }
}
