package io.mallometer.view;

import static io.mallometer.model.Figure.Unit.SECONDS;

import io.mallometer.Mallometer;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Figure;
import io.mallometer.model.Snapshot;
import io.mallometer.report.LeakFormat;
import io.mallometer.report.ReportFormat;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The answer of {@code nativememory/overview}: all values that change with each poll, in one body
 * for a page that many people watch.
 */
public record OverviewView(
    @Figure("The process id") long pid,
    @Figure("When the process started, in ISO 8601; another one means another process")
        Optional<Instant> started,
    @Figure(
            value =
                "How long a page should wait before it asks again: 10, or up to 60 if all open pages together would ask more than twice a second",
            unit = SECONDS)
        int askAgainSeconds,
    @Figure("Whether a POST to trim is answered at all") boolean trimAllowed,
    @Figure("The judgement on the process") Diagnosis diagnosis,
    @Figure("The latest snapshot") NativeMemoryView snapshot,
    @Figure("The names of the other views") List<String> views,
    @Figure("Files for people and other tools, by name") List<Export> exports)
    implements View {

  /** A file that can be exported. */
  public record Export(
      @Figure("What it is called") String name,
      @Figure("What to ask for") String address,
      @Figure("What the file's name ends with") String extension,
      @Figure("What it is for") String title) {

    private static final List<Export> ALL =
        Stream.of(
                Arrays.stream(ReportFormat.values()).map(Export::of),
                Arrays.stream(LeakFormat.values()).map(Export::of),
                Stream.of(
                    new Export(
                        Views.EVIDENCE,
                        Views.EVIDENCE,
                        "zip",
                        "all reports in one archive, for a ticket")))
            .flatMap(exports -> exports)
            .toList();

    private static Export of(ReportFormat format) {
      return new Export(format.id(), format.id(), format.extension(), format.title());
    }

    private static Export of(LeakFormat format) {
      return new Export(
          "leaks-" + format.id(),
          "leaks?format=" + format.id(),
          format.extension(),
          format.title());
    }
  }

  private static final ProcessHandle SELF = ProcessHandle.current();

  private static final Optional<Instant> STARTED = SELF.info().startInstant();

  static OverviewView of(Mallometer mallometer, boolean trimAllowed, int askAgainSeconds) {
    // A call of pools() makes the next reading of the pools come sooner. Its result is not needed.
    mallometer.allocator().pools();
    Snapshot snapshot = mallometer.snapshot();
    return new OverviewView(
        SELF.pid(),
        STARTED,
        askAgainSeconds,
        trimAllowed,
        snapshot.diagnosis(),
        NativeMemoryView.of(
            snapshot, mallometer.clock(), mallometer.leaks().report().observation()),
        Views.NAMES,
        Export.ALL);
  }
}
