package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.LeakReport;
import io.mallometer.model.OwnerReport;
import io.mallometer.model.OwnerReport.Path;
import io.mallometer.model.OwnerReport.Way;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Shows verdicts. */
final class LeakDetectorTables implements Described.OfLeakDetector {

  private static final int MOST_ROWS = 100;
  private static final int MOST_LINKS = 8;

  private final Mallometer mallometer;

  LeakDetectorTables(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public String getTime() {
    return report().time().toString();
  }

  @Override
  public String getState() {
    return report().observation().state().tag();
  }

  @Override
  public String getReason() {
    return report().observation().reason();
  }

  @Override
  public String getLostMemory() {
    return report().observation().lostMemory();
  }

  @Override
  public long getEpochs() {
    return report().observation().epochs();
  }

  @Override
  public long getVoidEpochs() {
    return report().observation().voidEpochs();
  }

  @Override
  public List<Row> getVerdicts() {
    return report().suspicious().stream().limit(MOST_ROWS).map(Row::of).toList();
  }

  @Override
  public List<String> stack(int number) {
    return report().sites().stream()
        .flatMap(verdict -> frames(verdict.site(), number).stream())
        .findFirst()
        .map(frames -> frames.stream().map(StackFrame::toString).toList())
        .orElseThrow(() -> new IllegalArgumentException("there is no verdict on site " + number));
  }

  private static Optional<List<StackFrame>> frames(SiteVerdict.Site site, int number) {
    return site.number() == number
        ? Optional.of(site.frames())
        : site.others().stream()
            .filter(stack -> stack.number() == number)
            .map(SiteVerdict.Stack::frames)
            .findFirst();
  }

  @Override
  public void acknowledge(String site, boolean fine) {
    mallometer.leaks().acknowledge(site, fine);
  }

  @Override
  public LeakDetectorMXBean.Owners owners(int number, int links) {
    if (links < 0 || links > MOST_LINKS) {
      throw new IllegalArgumentException("links must be from 0 to " + MOST_LINKS);
    }
    OwnerReport report = mallometer.leaks().owners(number, links);
    return new LeakDetectorMXBean.Owners(
        report.outcome().name(),
        report.explanation(),
        report.samples(),
        report.pauses(),
        lines(report),
        report.remarks());
  }

  /** Returns a line for each way in which samples are held, and below it one for each path. */
  private static List<String> lines(OwnerReport report) {
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

  private LeakReport report() {
    return mallometer.leaks().report();
  }
}
