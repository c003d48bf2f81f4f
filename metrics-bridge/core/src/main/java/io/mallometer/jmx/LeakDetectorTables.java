package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import java.util.List;
import java.util.Optional;

/** Answers the requests to {@link LeakDetectorMXBean}. */
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
  public Row getObservation() {
    return Row.of(report().observation());
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
  public void acknowledge(String site, boolean acknowledged) {
    mallometer.leaks().acknowledge(site, acknowledged);
  }

  @Override
  public Row owners(int number, int links) {
    if (links < 0 || links > MOST_LINKS) {
      throw new IllegalArgumentException("links must be from 0 to " + MOST_LINKS);
    }
    return Row.of(mallometer.leaks().owners(number, links));
  }

  private LeakReport report() {
    return mallometer.leaks().report();
  }
}
