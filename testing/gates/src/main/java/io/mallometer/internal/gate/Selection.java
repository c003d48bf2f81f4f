package io.mallometer.internal.gate;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Selects measurements. In patterns, {@code *} stands for any text and {@code ?} for one character.
 */
public final class Selection {

  /**
   * The default selection of metrics: those of native memory, without a benchmark's score and time.
   */
  public static final String NATIVE = "native.*";

  private final Pattern names;
  private final Pattern metrics;
  private final List<String> metricPatterns;

  /**
   * Creates a selection.
   *
   * @param names patterns for tests and benchmarks; an empty list selects all
   * @param metrics patterns for metrics; an empty list selects {@value #NATIVE}
   */
  public Selection(List<String> names, List<String> metrics) {
    metricPatterns = metrics.isEmpty() ? List.of(NATIVE) : List.copyOf(metrics);
    this.names = pattern(names.isEmpty() ? List.of("*") : names);
    this.metrics = pattern(metricPatterns);
  }

  boolean has(Key key) {
    return names.matcher(key.name()).matches() && metrics.matcher(key.metric()).matches();
  }

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
