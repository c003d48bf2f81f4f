package io.mallometer.internal.gate;

import java.util.Locale;
import java.util.function.Function;

/** The formats in which the comparison of two runs is written. */
public enum Format {
  TEXT(ComparisonText::text),
  /** A table for a pull request's description or a job summary. */
  MARKDOWN(ComparisonText::markdown),
  JSON(JsonReport::of),
  JUNIT(JUnitReport::of),
  /** Workflow commands, which GitHub shows as annotations. */
  GITHUB(ComparisonText::github);

  private final Function<Comparison, String> report;

  Format(Function<Comparison, String> report) {
    this.report = report;
  }

  public String of(Comparison comparison) {
    return report.apply(comparison);
  }

  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Format of(String id) {
    return OptionByName.of("format", id, values(), Format::id);
  }
}
