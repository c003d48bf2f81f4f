package io.mallometer.internal.gate;

import io.mallometer.internal.gate.Comparison.Figure;
import io.mallometer.internal.gate.Comparison.Problem;
import java.util.List;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * A comparison as JUnit's XML, with a test for each metric. The test fails if a figure is worse,
 * and is an error if the metric was not measured.
 */
final class JUnitReport {

  private JUnitReport() {}

  static String of(Comparison comparison) {
    SortedMap<Key, List<Figure>> metrics = comparison.byMetric();
    StringBuilder tests = new StringBuilder();
    int failures = 0;
    for (List<Figure> figures : metrics.values()) {
      boolean failed = figures.stream().anyMatch(figure -> figure.verdict() == FigureChange.WORSE);
      failures += failed ? 1 : 0;
      begin(tests, figures.get(0).key());
      if (failed) {
        element(tests, "failure", "more native memory", lines(figures, FigureChange.WORSE));
      }
      String noise = lines(figures, FigureChange.NOISE);
      if (!noise.isEmpty()) {
        tests
            .append("      <system-out>")
            .append(escaped("warning, inside the noise band: " + noise))
            .append("</system-out>\n");
      }
      tests.append("    </testcase>\n");
    }
    for (Problem problem : comparison.problems()) {
      begin(tests, problem.key());
      element(tests, "error", problem.reason(), problem.key() + ": " + problem.reason());
      tests.append("    </testcase>\n");
    }
    int errors = comparison.problems().size();
    return """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="native memory" tests="%d" failures="%d" errors="%d" skipped="0">
        %s  </testsuite>
        </testsuites>
        """
        .formatted(metrics.size() + errors, failures, errors, tests);
  }

  private static void begin(StringBuilder tests, Key key) {
    tests
        .append("    <testcase classname=\"")
        .append(escaped(key.name()))
        .append("\" name=\"")
        .append(escaped(key.metric()))
        .append("\">\n");
  }

  private static void element(StringBuilder tests, String name, String message, String text) {
    tests
        .append("      <%s message=\"%s\">".formatted(name, escaped(message)))
        .append(escaped(text))
        .append("</%s>\n".formatted(name));
  }

  private static String lines(List<Figure> figures, FigureChange verdict) {
    return figures.stream()
        .filter(figure -> figure.verdict() == verdict)
        .map(ComparisonText::line)
        .collect(Collectors.joining("\n"));
  }

  /** Escapes markup, and replaces characters that XML 1.0 cannot contain. */
  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\n', '\t' -> escaped.append((char) c);
                default -> {
                  boolean held =
                      c >= ' ' && c != 0xFFFE && c != 0xFFFF && (c < 0xD800 || c > 0xDFFF);
                  escaped.appendCodePoint(held ? c : '?');
                }
              }
            });
    return escaped.toString();
  }
}
