package io.mallometer.internal.gate;

import java.util.Locale;
import java.util.function.Function;

/** The formats in which the comparison of two runs is written. */
public enum Format {
  /** Lines for people: the differences and a summary. */
  TEXT(ComparisonText::text),
  /** A table for a pull request's description or a job summary. */
  MARKDOWN(ComparisonText::markdown),
  /** A JSON object with every figure. */
  JSON(JsonReport::of),
  /** A JUnit test for each metric, for continuous integration. */
  JUNIT(JUnitReport::of),
  /** Workflow commands, which GitHub shows as annotations. */
  GITHUB(ComparisonText::github);

  private final Function<Comparison, String> report;

  Format(Function<Comparison, String> report) {
    this.report = report;
  }

  /** Returns the comparison in this format, with a line break at the end. */
  public String of(Comparison comparison) {
    return report.apply(comparison);
  }

  /** Returns the name of this format in options. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Finds a format by its name.
   *
   * @throws IllegalArgumentException if there is none; the message lists all names
   */
  public static Format of(String id) {
    return OptionByName.of("format", id, values(), Format::id);
  }
}
