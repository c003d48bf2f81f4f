package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.VerdictsByHand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class ReportedMemoryTest {

  private static final long MIB = 1 << 20;

  @TempDir private Path directory;

  /**
   * Memory is recorded once a minute, and also when a threshold is exceeded. The report shows what
   * was recorded last.
   */
  @Test
  void anExceededShareAfterTheLastMinuteIsTheLatest() throws Exception {
    assertThat(report(90))
        .contains("Where the memory was at 12:01:30, and the change since 12:00:10")
        .containsPattern("malloc_live +118 MiB +\\+88.0 MiB")
        .contains("verdict at 118")
        .doesNotContain("verdict at 66");
  }

  @Test
  void anExceededShareBeforeTheLastMinuteIsNot() throws Exception {
    assertThat(report(60))
        .contains("Where the memory was at 12:01:10, and the change since 12:00:10")
        .containsPattern("malloc_live +66.0 MiB +\\+36.0 MiB")
        .contains("verdict at 66");
  }

  /**
   * The resident set is split into parts less often than the memory is recorded, because the split
   * is expensive. The report states the time of the split, which may be older than the record.
   */
  @Test
  void anOldSplitIsTold() throws Exception {
    assertThat(report(60)).contains("  resident, split at 11:59:50\n");
  }

  @Test
  void anExceededShareAloneIsEnough() throws Exception {
    Path path = directory.resolve("recording");
    try (RecordingFile file = Recordings.open(path)) {
      write(file, RecordingFormat.EXCEEDED, 5, memory(118).line("threshold-percent", 95));
    }

    assertThat(RecordingReport.of(path)).contains("Where the memory was at 12:00:05\n");
  }

  @Test
  void whatTheAllocatorKeptWhoAskedForMuchAndWhatTheKernelCountedIsTold() throws Exception {
    assertThat(report(90))
        .contains("The allocator, glibc 2.36\n")
        .containsPattern("arenas +16\n")
        .containsPattern("system +80.0 MiB\n")
        .containsPattern("used +50.0 MiB\n")
        .containsPattern("retained +30.0 MiB\n")
        .contains("The latest huge requests\n  12:00:07  100 MiB by thread importer\n")
        .containsPattern("events of the cgroup since it was made\n +max +12\n");
  }

  @Test
  void whatLeakedIsToldInWords() throws Exception {
    Path path = directory.resolve("recording");
    FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
    try (mallometer;
        RecordingFile file = Recordings.open(path)) {
      mallometer.setLeaks(VerdictsByHand.four());
      mallometer.poll();
      write(file, RecordingFormat.MINUTES, 10, MemoryLines.of(mallometer.snapshot(), List.of()));
    }

    assertThat(RecordingReport.of(path))
        .containsPattern("Leaks\n  com.shop.Report.render keeps memory  a leak since .*\n\n")
        .as("a report without the acknowledged call site")
        .doesNotContain("com.shop.Cart.zip");
  }

  /**
   * Returns the report of a process that recorded its memory three times: at 10 s and at 70 s, and
   * at {@code exceededSecond} because memory exceeded a threshold.
   */
  private String report(long exceededSecond) throws IOException {
    Path path = directory.resolve("recording");
    try (RecordingFile file = Recordings.open(path)) {
      write(file, RecordingFormat.MINUTES, 10, memory(30));
      write(file, RecordingFormat.MINUTES, 70, memory(66));
      write(
          file,
          RecordingFormat.EXCEEDED,
          exceededSecond,
          memory(118).line("threshold-percent", 95));
    }
    return RecordingReport.of(path);
  }

  private static MemoryText memory(long liveMib) {
    return new MemoryText()
        .line("split-time", Recordings.START.minusSeconds(10))
        .line("part", "malloc_live", liveMib * MIB)
        .line("event", "max", 12)
        .line("allocator-arenas", 16)
        .line("allocator-system-bytes", 80 * MIB)
        .line("allocator-used-bytes", 50 * MIB)
        .line("allocator-retained-bytes", 30 * MIB)
        .line("verdict", "verdict at " + liveMib)
        .line("budget", "native", liveMib * MIB, "measured", "now")
        .line("large", Recordings.START.plusSeconds(7), 100 * MIB, "importer");
  }

  private static void write(RecordingFile file, int region, long second, MemoryText text)
      throws IOException {
    file.write(
        region,
        Recordings.START.plusSeconds(second),
        Recordings.START_NANOS + second * Recordings.SECOND,
        text);
  }
}
