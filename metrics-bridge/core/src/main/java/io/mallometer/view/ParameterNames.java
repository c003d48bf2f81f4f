package io.mallometer.view;

import io.mallometer.report.ReportFormat;
import java.util.Collection;
import java.util.List;

/**
 * The names of the parameters that a request may have. Unknown parameters are refused. If {@code
 * ?top=5} were ignored, the client would get more than five sites without an error.
 */
public final class ParameterNames {

  private static final List<String> OF_SITES =
      List.of("sort", "group", "filter", "owner", "limit", "from", "to", "at");
  private static final List<String> OF_LEAKS = List.of("all", "owner", "format");
  private static final List<String> OF_REPORTS = List.of("metric", "filter", "at");
  private static final List<String> OF_PPROF = List.of("metric", "filter", "at", "seconds");

  private ParameterNames() {}

  static List<String> of(String view) {
    if (ReportFormat.byId(view).isPresent()) {
      return view.equals(ReportFormat.PPROF.id()) ? OF_PPROF : OF_REPORTS;
    }
    return switch (view) {
      case "sites" -> OF_SITES;
      case "leaks" -> OF_LEAKS;
      default -> List.of();
    };
  }

  /**
   * Checks that all given parameters are known.
   *
   * @param asked the name of the view in the address
   * @throws IllegalArgumentException if one is unknown; the message lists the known ones
   */
  public static void check(String asked, Collection<String> given, List<String> known) {
    for (String name : given) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "%s has no parameter '%s'; it has %s"
                .formatted(asked, name, known.isEmpty() ? "none" : String.join(", ", known)));
      }
    }
  }
}
