package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Snapshot;
import io.mallometer.report.LeakFormat;
import io.mallometer.report.ReportFormat;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Answer of {@code nativememory/overview}: everything that changes with each poll, in one body, for
 * a page that many people watch.
 *
 * @param pid the process id
 * @param started when the process started, in ISO 8601; another one means another process
 * @param askAgainSeconds how long who watches should wait before asking again: 10, or up to 60
 *     where there are so many that they would ask more than twice a second together
 * @param trimAllowed whether a POST to {@code trim} is answered at all
 * @param diagnosis the judgement on the process
 * @param memory the counters
 * @param breakdown resident memory by part
 * @param cgroup the memory cgroup
 * @param budget what the configuration may need
 * @param allocator the allocator below
 * @param views what else can be asked for, by name
 * @param exports files for people and other tools, by name
 */
public record OverviewView(
    long pid,
    Optional<Instant> started,
    int askAgainSeconds,
    boolean trimAllowed,
    DiagnosisView diagnosis,
    NativeMemoryView memory,
    BreakdownView breakdown,
    CgroupView cgroup,
    BudgetView budget,
    AllocatorView allocator,
    List<String> views,
    List<Export> exports)
    implements View {

  /**
   * A file that can be had.
   *
   * @param name what it is called
   * @param address what to ask for
   * @param extension what the file's name ends with
   * @param title what it is for
   */
  public record Export(String name, String address, String extension, String title) {

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
    Snapshot snapshot = mallometer.snapshot();
    ProcessMemory memory = snapshot.memory();
    return new OverviewView(
        SELF.pid(),
        STARTED,
        askAgainSeconds,
        trimAllowed,
        DiagnosisView.of(snapshot.diagnosis()),
        NativeMemoryView.of(
            snapshot, mallometer.clock(), mallometer.leaks().report().observation()),
        BreakdownView.of(snapshot),
        CgroupView.of(memory),
        BudgetView.of(memory),
        AllocatorView.of(snapshot),
        Views.NAMES,
        Export.ALL);
  }
}
