package io.mallometer.report;

import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Path;
import io.mallometer.model.OwnerReport.Way;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Who holds native memory, as lines of text. */
public final class OwnerText {

  private OwnerText() {}

  /** Returns a line for each way in which samples are held, and below it one for each path. */
  public static List<String> lines(OwnerReport report) {
    List<String> lines = new ArrayList<>();
    for (Way way : report.ways()) {
      lines.add(line(way, report.samples()));
      for (Path path : way.paths()) {
        lines.add(
            "    %s: %s, %d of the holders looked at"
                .formatted(
                    path.holding().words(),
                    path.text().isEmpty() ? "no path" : path.text(),
                    path.holders()));
      }
    }
    return lines;
  }

  private static String line(Way way, int all) {
    return String.format(
        Locale.ROOT,
        "%d of %d (%.0f %%, interval %.0f to %.0f %%) %s%s%s",
        way.samples(),
        all,
        100 * way.share(),
        100 * way.shareLow(),
        100 * way.shareHigh(),
        way.holding().words(),
        way.holder().isEmpty() ? "" : ": " + way.holder(),
        way.throughNative() ? ", through native memory" : "");
  }
}
