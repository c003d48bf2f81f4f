package io.mallometer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number that mallometer publishes in any format, described in Prometheus' terms.
 *
 * @param name name of the sample, such as {@code native_malloc_frees_total}
 * @param type counter, gauge or histogram
 * @param labels labels by name
 * @param value the number
 */
public record Published(String name, String type, SortedMap<String, String> labels, double value) {

  private static final Pattern SAMPLE =
      Pattern.compile("([A-Za-z_:][A-Za-z0-9_:]*)(?:\\{(.*)})? (\\S+)");
  private static final Pattern LABEL =
      Pattern.compile("([A-Za-z_][A-Za-z0-9_]*)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  /** Creates a published number. {@code labels} contains names and values in turn. */
  public static Published of(String name, String type, double value, String... labels) {
    SortedMap<String, String> byName = new TreeMap<>();
    for (int i = 0; i < labels.length; i += 2) {
      byName.put(labels[i], labels[i + 1]);
    }
    return new Published(name, type, byName, value);
  }

  /** Reads Prometheus' text format 0.0.4. */
  public static List<Published> parse(String exposition) {
    Map<String, String> types = new HashMap<>();
    List<Published> samples = new ArrayList<>();
    for (String line : exposition.split("\n")) {
      if (line.startsWith("# TYPE ")) {
        String[] words = line.split(" ");
        types.put(words[2], words[3]);
      } else if (!line.startsWith("#") && !line.isBlank()) {
        samples.add(parseSample(line, types));
      }
    }
    return samples;
  }

  private static Published parseSample(String line, Map<String, String> types) {
    Matcher sample = SAMPLE.matcher(line);
    if (!sample.matches()) {
      throw new IllegalArgumentException("not a sample: " + line);
    }
    SortedMap<String, String> labels = new TreeMap<>();
    if (sample.group(2) != null) {
      Matcher label = LABEL.matcher(sample.group(2));
      while (label.find()) {
        labels.put(label.group(1), label.group(2));
      }
    }
    String name = sample.group(1);
    String family = name.replaceFirst("_(bucket|count|sum)$", "");
    String type = types.getOrDefault(name, types.getOrDefault(family, "untyped"));
    return new Published(name, type, labels, number(sample.group(3)));
  }

  private static double number(String text) {
    return switch (text) {
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }
}
