package io.mallometer.internal.gate;

import io.mallometer.internal.gate.Comparison.Figure;
import io.mallometer.internal.gate.Comparison.Problem;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes the comparison of two measurements as lines of text. Figures without a difference are
 * counted, not listed.
 */
final class ComparisonText {

  private static final String HINT =
      "If the change is intended, accept it with mallometer thresholds update or baseline save,"
          + " or with Maven -Dmallometer.update.";

  private static final Comparator<Figure> BY_VERDICT = Comparator.comparing(Figure::verdict);

  private ComparisonText() {}

  static String text(Comparison comparison) {
    StringBuilder text = new StringBuilder();
    for (Figure figure : notable(comparison)) {
      text.append(plain("%-6s %s ".formatted(figure.verdict().id(), figure.key()) + line(figure)));
    }
    for (Problem problem : comparison.problems()) {
      text.append(plain("failed %s: %s".formatted(problem.key(), problem.reason())));
    }
    for (Key key : comparison.added()) {
      text.append(plain("new    %s: not judged".formatted(key)));
    }
    text.append(summary(comparison)).append('\n');
    if (comparison.outcome() == Outcome.WORSE) {
      text.append(HINT).append('\n');
    }
    return text.toString();
  }

  static String markdown(Comparison comparison) {
    StringBuilder text = new StringBuilder("**Native memory: ");
    text.append(comparison.outcome().id()).append("**. ").append(summary(comparison)).append('\n');
    List<Figure> notable = notable(comparison);
    if (!notable.isEmpty()) {
      text.append("\n| | name | metric | | expected | measured | change | allowed | noise |\n");
      text.append("|---|---|---|---|--:|--:|--:|--:|--:|\n");
    }
    for (Figure figure : notable) {
      text.append(
          "| %s | %s | %s | %s | %s %s | %s %s | %s | %s | %s |\n"
              .formatted(
                  figure.verdict().id(),
                  cell(figure.key().name()),
                  cell(figure.key().metric()),
                  figure.percentile().id(),
                  Numbers.text(figure.expected()),
                  cell(figure.unit()),
                  Numbers.text(figure.measured()),
                  cell(figure.unit()),
                  relative(figure),
                  Numbers.text(figure.tolerance()),
                  Numbers.text(figure.noise())));
    }
    if (!comparison.problems().isEmpty() || !comparison.added().isEmpty()) {
      text.append('\n');
    }
    for (Problem problem : comparison.problems()) {
      text.append(
          "- failed: %s: %s\n".formatted(cell(problem.key().toString()), cell(problem.reason())));
    }
    for (Key key : comparison.added()) {
      text.append("- new, not judged: %s\n".formatted(cell(key.toString())));
    }
    return text.toString();
  }

  /**
   * Returns the comparison as GitHub's workflow commands:
   * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
   */
  static String github(Comparison comparison) {
    StringBuilder text = new StringBuilder();
    comparison
        .byMetric()
        .forEach(
            (key, figures) -> {
              FigureChange worst = Collections.min(figures, BY_VERDICT).verdict();
              if (worst != FigureChange.EQUAL) {
                String lines =
                    figures.stream()
                        .filter(figure -> figure.verdict() != FigureChange.EQUAL)
                        .map(ComparisonText::line)
                        .collect(Collectors.joining("\n"));
                text.append(
                    command(level(worst), "Native memory: " + worst.id(), key + "\n" + lines));
              }
            });
    for (Problem problem : comparison.problems()) {
      text.append(
          command("error", "Native memory: not measured", problem.key() + ": " + problem.reason()));
    }
    return text.append(command("notice", "Native memory", summary(comparison))).toString();
  }

  private static String level(FigureChange verdict) {
    return switch (verdict) {
      case WORSE -> "error";
      case NOISE -> "warning";
      case BETTER, EQUAL -> "notice";
    };
  }

  private static String command(String level, String title, String message) {
    return "::%s title=%s::%s\n"
        .formatted(level, data(title).replace(":", "%3A").replace(",", "%2C"), data(message));
  }

  private static String data(String text) {
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A");
  }

  private static List<Figure> notable(Comparison comparison) {
    return comparison.figures().stream()
        .filter(figure -> figure.verdict() != FigureChange.EQUAL)
        .sorted(BY_VERDICT)
        .toList();
  }

  /**
   * Returns a line such as {@code p50: 1012 B/op, expected 830, +21.9 % (allowed 41.5, noise 0)}.
   */
  static String line(Figure figure) {
    return "%s: %s %s, expected %s, %s (allowed %s, noise %s)"
        .formatted(
            figure.percentile().id(),
            Numbers.text(figure.measured()),
            figure.unit(),
            Numbers.text(figure.expected()),
            relative(figure),
            Numbers.text(figure.tolerance()),
            Numbers.text(figure.noise()));
  }

  private static String relative(Figure figure) {
    double change = figure.measured() - figure.expected();
    String sign = change > 0 ? "+" : "";
    return figure.expected() == 0
        ? sign + Numbers.text(change)
        : sign + Numbers.percent(change / Math.abs(figure.expected()));
  }

  private static String summary(Comparison comparison) {
    int problems = comparison.problems().size();
    return "%d figures: %d worse, %d more but inside the noise band, %d better, %d equal%s."
        .formatted(
            comparison.figures().size(),
            comparison.count(FigureChange.WORSE),
            comparison.count(FigureChange.NOISE),
            comparison.count(FigureChange.BETTER),
            comparison.count(FigureChange.EQUAL),
            problems == 0 ? "" : "; %d not measured".formatted(problems));
  }

  /** Replaces control characters, because a terminal would obey them. */
  private static String plain(String line) {
    return line.replaceAll("[\\p{Cc}\\p{Cf}]", "?") + "\n";
  }

  private static String cell(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", " ").replaceAll("([\\\\`*_|<>\\[\\]])", "\\\\$1");
  }
}
