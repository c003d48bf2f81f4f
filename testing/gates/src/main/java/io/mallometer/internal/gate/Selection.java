package io.mallometer.internal.gate;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Which measurements are looked at. Patterns have {@code *} for any text and {@code ?} for any
 * character.
 */
public final class Selection {

  /** Metrics of native memory. A benchmark's score and its time are not gated unless asked for. */
  public static final String NATIVE = "native.*";

  private final Pattern names;
  private final Pattern metrics;
  private final List<String> metricPatterns;

  /**
   * Makes a selection.
   *
   * @param names patterns for names; none selects all
   * @param metrics patterns for metrics; none selects {@value #NATIVE}
   */
  public Selection(List<String> names, List<String> metrics) {
    metricPatterns = metrics.isEmpty() ? List.of(NATIVE) : List.copyOf(metrics);
    this.names = pattern(names.isEmpty() ? List.of("*") : names);
    this.metrics = pattern(metricPatterns);
  }

  boolean has(Key key) {
    return names.matcher(key.name()).matches() && metrics.matcher(key.metric()).matches();
  }

  /** Returns the patterns for metrics, for messages. */
  String metrics() {
    return String.join(", ", metricPatterns);
  }

  private static Pattern pattern(List<String> globs) {
    return Pattern.compile(
        globs.stream().map(Selection::expression).collect(Collectors.joining("|")), Pattern.DOTALL);
  }

  private static String expression(String glob) {
    return glob.codePoints()
        .mapToObj(
            c -> c == '*' ? ".*" : c == '?' ? "." : Pattern.quote(new String(Character.toChars(c))))
        .collect(Collectors.joining());
  }
}
