package io.mallometer.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The options after the equals sign of {@code -javaagent:mallometer-agent.jar=}, such as {@code
 * port=9464,host=127.0.0.1,config=/etc/app/mallometer.yml}.
 *
 * <p>The file named by {@code config} has the same options, in a subset of YAML: names, nested by
 * indentation or by dots, each with a text. Values that contain commas must be in the file. Secrets
 * should be in the file, because a list of processes shows the command line. Options on the command
 * line take precedence.
 */
final class AgentOptions {

  private static final String FILE = "config";
  private static final String FILE_VARIABLE = "MALLOMETER_CONFIG";

  private AgentOptions() {}

  /**
   * Returns the options by name, from {@code text} and from the file named by its option {@code
   * config} or by the environment variable MALLOMETER_CONFIG. Does not check names and values. An
   * empty text is valid.
   *
   * @throws IllegalArgumentException if an option is malformed; the message names it
   * @throws IOException if the file cannot be read
   */
  static Map<String, String> parse(String text) throws IOException {
    Map<String, String> options = new TreeMap<>();
    for (String option : text.isBlank() ? new String[0] : text.split(",")) {
      String[] pair = option.strip().split("=", 2);
      if (pair.length != 2 || pair[1].isEmpty()) {
        throw new IllegalArgumentException(
            "option \"" + option + "\" must have the form name=value");
      }
      options.put(pair[0], pair[1]);
    }
    String file = options.getOrDefault(FILE, System.getenv().getOrDefault(FILE_VARIABLE, ""));
    if (!file.isEmpty()) {
      file(Path.of(file)).forEach(options::putIfAbsent);
    }
    return options;
  }

  private static Map<String, String> file(Path path) throws IOException {
    try {
      return lines(Files.readAllLines(path));
    } catch (IOException e) {
      throw new IOException("the options in " + path + " cannot be read: " + e, e);
    }
  }

  /**
   * Parses lines of YAML. The name of a nested option consists of the names of its levels, joined
   * by dots.
   */
  static Map<String, String> lines(List<String> lines) {
    Map<String, String> options = new LinkedHashMap<>();
    // The name on the current line and the names of the sections that enclose it. The keys are the
    // indentations.
    TreeMap<Integer, String> path = new TreeMap<>();
    for (String line : lines) {
      String text = line.strip();
      if (text.isEmpty() || text.startsWith("#") || text.equals("---")) {
        continue;
      }
      int colon = text.indexOf(':');
      if (colon < 1) {
        throw new IllegalArgumentException("line \"" + text + "\" is not name: value");
      }
      int indentation = line.indexOf(text.charAt(0));
      path.tailMap(indentation, true).clear();
      path.put(indentation, text.substring(0, colon).strip());
      String value = unquoted(text.substring(colon + 1).strip());
      if (!value.isEmpty()) {
        options.put(String.join(".", path.values()), value);
      }
    }
    return options;
  }

  private static String unquoted(String value) {
    boolean quoted =
        value.length() > 1
            && (value.startsWith("\"") && value.endsWith("\"")
                || value.startsWith("'") && value.endsWith("'"));
    if (quoted) {
      return value.substring(1, value.length() - 1);
    }
    int comment = value.indexOf(" #");
    return value.startsWith("#") ? "" : comment < 0 ? value : value.substring(0, comment).strip();
  }
}
