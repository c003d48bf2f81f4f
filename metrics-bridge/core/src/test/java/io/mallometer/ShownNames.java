package io.mallometer;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The names of metrics, views and JSON keys that an application with mallometer shows, written as
 * in {@code docs/public-names.txt}. In a name, {@code *} is text that depends on the program, and
 * {@code []} is any element of a list.
 */
public final class ShownNames {

  /**
   * The labels whose values depend on the program, such as paths. Mallometer fixes the values of
   * all other labels, so those values are listed in {@code docs/public-names.txt}.
   */
  private static final Set<String> OPEN_LABELS =
      Set.of(
          "accounting",
          "allocator",
          "event",
          "id",
          "le",
          "library",
          "method",
          "mode",
          "scope",
          "site",
          "uri",
          "version");

  /** The JSON objects whose keys are not listed, because the kernel defines them. */
  private static final Set<String> OPEN_TABLES = Set.of("events");

  /** The keys of the answer to an empty path are listed under this name. */
  private static final String ROOT = "nativememory";

  /** The reports that are not JSON, and the DHAT report, whose names are Valgrind's. */
  private static final Set<String> REPORTS = Set.of("collapsed", "flamegraph", "pprof", "dhat");

  private static final String MEMORY = "snapshot";
  private static final String REASON = "reason";

  private static final Set<String> HOLDING_OTHERS = Set.of("overview", "report");

  /**
   * Requests with a parameter that has a fixed set of values. The test sends a wrong value, and
   * reads the allowed values from the refusal.
   */
  private static final List<String> CHOICES =
      List.of(
          "sites?group=",
          "sites?sort=",
          "sites?from=10m&sort=",
          "table?metric=",
          "leaks?format=",
          "sites?at=");

  private ShownNames() {}

  public static Set<String> series(Collection<Published> samples) {
    return samples.stream().map(ShownNames::series).collect(Collectors.toCollection(TreeSet::new));
  }

  private static String series(Published sample) {
    String labels =
        sample.labels().entrySet().stream()
            .map(label -> label.getKey() + "=\"" + value(label) + "\"")
            .collect(Collectors.joining(",", "{", "}"));
    return sample.name() + (labels.equals("{}") ? "" : labels) + " " + sample.type();
  }

  private static String value(Map.Entry<String, String> label) {
    return OPEN_LABELS.contains(label.getKey()) ? "*" : label.getValue();
  }

  /**
   * Returns the names of all views and reports, and the values of their parameters.
   *
   * @param ask returns the body of the answer to a path, even if the answer is an error
   * @param parse reads JSON into maps, lists, strings, numbers and booleans
   */
  public static Set<String> views(Function<String, String> ask, Function<String, Object> parse) {
    Set<String> names = new TreeSet<>(views(refusal(ask, parse, "none")));
    for (String choice : CHOICES) {
      String parameter = choice.replaceFirst(".*[?&]", "?");
      String reason = refusal(ask, parse, choice + "none");
      List.of(reason.replaceFirst(".* must be one of ", "").split(", "))
          .forEach(value -> names.add(parameter + value));
    }
    return names;
  }

  private static List<String> views(String refusal) {
    return List.of(refusal.replaceFirst(".*; there are (.*); and .*", "$1").split(", "));
  }

  private static String refusal(
      Function<String, String> ask, Function<String, Object> parse, String nonsense) {
    return (String) ((Map<?, ?>) parse.apply(ask.apply("/" + nonsense))).get(REASON);
  }

  /**
   * Returns the keys of all JSON answers. Each key has the name of its view as a prefix.
   *
   * @param ask returns the body of the answer to a path, even if the answer is an error
   * @param parse reads JSON into maps, lists, strings, numbers and booleans
   */
  public static Set<String> answers(Function<String, String> ask, Function<String, Object> parse) {
    Set<String> names = new TreeSet<>();
    for (String view : views(refusal(ask, parse, "none"))) {
      if (!REPORTS.contains(view)) {
        addAnswer(names, view, parse.apply(ask.apply("/" + view)));
      }
    }
    addAnswer(names, ROOT, parse.apply(ask.apply("")));
    addAnswer(names, "sites?group", parse.apply(ask.apply("/sites?group=library")));
    addAnswer(names, "sites?from", parse.apply(ask.apply("/sites?from=10m")));
    addAnswer(names, "none", parse.apply(ask.apply("/none")));
    return names;
  }

  /**
   * Adds the keys of an answer. If it contains the answer of another view, the keys of that answer
   * are listed only under the other view.
   */
  public static void addAnswer(Set<String> names, String view, Object answer) {
    if (!(answer instanceof Map<?, ?> map)) {
      addKeys(names, view + " ", answer);
    } else if (map.keySet().equals(Set.of(REASON))) {
      names.add("refusal " + REASON);
    } else if (HOLDING_OTHERS.contains(view)) {
      map.forEach((key, value) -> addHeld(names, view, key.toString(), value));
    } else {
      addKeys(names, view + " ", map);
    }
  }

  private static void addHeld(Set<String> names, String view, String key, Object value) {
    if (value instanceof Map) {
      String other = key.equals(MEMORY) ? ROOT : key;
      names.add(view + " " + key + " = " + other);
      addAnswer(names, other, value);
    } else {
      addKeys(names, view + " " + key, value);
    }
  }

  public static void addKeys(Set<String> names, String path, Object json) {
    if (json instanceof Map<?, ?> map) {
      String prefix = path.endsWith(" ") ? path : path + ".";
      if (OPEN_TABLES.stream().anyMatch(path::endsWith)) {
        names.add(prefix + "*");
      } else {
        map.forEach((key, value) -> addKeys(names, prefix + key, value));
      }
    } else if (json instanceof List<?> list) {
      list.forEach(element -> addKeys(names, path + "[]", element));
    } else {
      names.add(path);
    }
  }
}
