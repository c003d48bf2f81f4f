package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.model.Baseline;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class ProcessMemorySourceTest {

  private static final Snapshot NOTHING_COUNTED =
      Snapshot.absent(Instant.EPOCH, new Status(State.UNAVAILABLE, "not preloaded", ""));

  private final CountingFiles files = new CountingFiles();
  private OptionalLong stated = OptionalLong.empty();
  private long nanos = 42;
  private long processorNanos;
  private final ProcessMemorySource source =
      new ProcessMemorySource(files, () -> nanos, () -> processorNanos);

  @Test
  void theFirstReadingHasEverything() {
    ProcessMemory memory = read();

    assertThat(memory.residentBytes()).isEqualTo(51_628 * 1024);
    assertThat(memory.resident().orElseThrow().totalBytes()).isEqualTo(48_880 * 1024L);
    assertThat(memory.resident().orElseThrow().parts().values().stream().mapToLong(b -> b).sum())
        .isEqualTo(48_880 * 1024L);
    assertThat(memory.resident().orElseThrow().costSeconds()).isEqualTo(0.012);
    assertThat(memory.cgroup().orElseThrow().chargedBytes()).isEqualTo(60_000_000);
    assertThat(memory.budget().orElseThrow().limitBytes()).isEqualTo(1_000_000);
    assertThat(memory.budget().orElseThrow().verdict()).startsWith("limit too small by ");
  }

  @Test
  void smallFilesAreReadOnceASecondAndMappingsEvery15() {
    for (int tenths = 0; tenths < 600; tenths++) {
      read();
      nanos += Duration.ofMillis(100).toNanos();
    }

    // FileCache also reads the status once a minute, for the size of the table of descriptors.
    assertThat(files.statusRead).isEqualTo(60 + 1);
    assertThat(files.mappingsRead).isEqualTo(4);
  }

  @Test
  void aSplitIsRenewedAtOnceButInTheLongRunNotMoreOften() {
    read();
    source.renew();
    read();
    assertThat(files.mappingsRead).isEqualTo(2);

    for (int second = 0; second < 600; second++) {
      nanos += seconds(1);
      source.renew();
      read();
    }
    assertThat(files.mappingsRead).isBetween(40, 44);
  }

  @Test
  void aSplitThatFailsIsNotTriedAgainSooner() {
    files.failing = true;
    for (int second = 0; second < 30; second++) {
      try {
        read();
      } catch (OutOfMemoryError e) {
        assertThat(e).hasMessage("Java heap space");
      }
      nanos += seconds(1);
    }

    assertThat(files.mappingsRead).isEqualTo(2);
  }

  /**
   * The captured process has 11,448 KiB of copied file pages. The result may leave out 948 KiB of
   * them, which are archived Java objects.
   */
  @Test
  void whatWasWrittenOfMappedFilesIsKnown() {
    assertThat(read().resident().orElseThrow().copiedFileBytes())
        .isBetween((11_448L - 948) * 1024, 11_448L * 1024);
  }

  @Test
  void aLimitThatChangesIsSeen() {
    read();
    files.limit = "2000000\n";
    nanos += Duration.ofSeconds(1).toNanos();

    ProcessMemory memory = read();
    assertThat(memory.cgroup().orElseThrow().limitBytes()).isEqualTo(2_000_000);
    assertThat(memory.budget().orElseThrow().limitBytes()).isEqualTo(2_000_000);
    assertThat(files.mappingsRead).isEqualTo(1);
  }

  /**
   * The status was captured from a JVM on Linux 6.18 that had mapped a file of 600 MiB and read it.
   */
  @Test
  void pagesOfFilesDoNotCountTowardALimit() {
    files.status =
        """
        VmPeak:\t 5337676 kB
        VmSize:\t 5337676 kB
        VmHWM:\t  660212 kB
        VmRSS:\t  660212 kB
        RssAnon:\t   27396 kB
        RssFile:\t  632780 kB
        RssShmem:\t      36 kB
        Threads:\t21
        """;

    assertThat(read().residentUsedBytes()).isEqualTo((27_396 + 36) * 1024);
  }

  @Test
  void whereTheKernelDoesNotTellThePagesOfFilesTheSplitDoes() {
    ProcessMemory memory = read();
    ResidentMemory split = memory.resident().orElseThrow();
    long files = split.of(ResidentPart.MAPPED_FILES).orElseThrow() - split.copiedFileBytes();

    assertThat(memory.residentFileBytes()).isNaN();
    assertThat(files).isGreaterThan(20 << 20);
    assertThat(memory.residentUsedBytes()).isEqualTo(memory.residentBytes() - files);
  }

  @Test
  void aStatedLimitIsSeenAtOnceAndIsTheBudgets() {
    files.limit = "max\n";
    assertThat(read().budget().orElseThrow().limitBytes()).isNaN();
    stated = OptionalLong.of(900_000_000_000L);
    nanos += Duration.ofSeconds(1).toNanos();

    ProcessMemory memory = read();
    assertThat(memory.limit().bytes()).isEqualTo(900e9);
    assertThat(memory.budget().orElseThrow().limitBytes()).isEqualTo(900e9);
    assertThat(memory.budget().orElseThrow().verdict()).startsWith("limit leaves ");
    assertThat(files.mappingsRead).isEqualTo(1);
  }

  @Test
  void whatCannotBeReadIsUnknown() {
    files.readable = false;
    ProcessMemory memory = read();

    assertThat(memory).isEqualTo(ProcessMemory.unknown());
  }

  /**
   * The cost of splitting the resident set counts from the third split on, because the first two
   * splits load classes and read names.
   */
  @ParameterizedTest
  @CsvSource({"100, 38", "10000000, 3"})
  void splitsAreAsSeldomAsKeepsThemUnderAThousandthOfAProcessor(int costMillis, int splits) {
    files.costNanos = Duration.ofMillis(costMillis).toNanos();
    for (int second = 0; second < 3_600; second++) {
      read();
      nanos += seconds(1);
    }

    assertThat(files.mappingsRead).isEqualTo(splits);
  }

  /**
   * After an attach, the split into live and retained bytes needs the bytes that were live before.
   */
  @Test
  void anUnknownBaselineLeavesMallocUndivided() {
    assertThat(parts(new Baseline(5_000_000, 300_000)))
        .containsKeys(ResidentPart.MALLOC_LIVE, ResidentPart.MALLOC_RETAINED)
        .doesNotContainKey(ResidentPart.MALLOC);
    assertThat(parts(new Baseline(Double.NaN, 80_000_000)))
        .containsKey(ResidentPart.MALLOC)
        .doesNotContainKeys(ResidentPart.MALLOC_LIVE, ResidentPart.MALLOC_RETAINED);
  }

  private Map<ResidentPart, Long> parts(Baseline baseline) {
    Snapshot attached =
        new Snapshot(
            Instant.EPOCH,
            Status.counting(SelfReport.ATTACHED),
            Optional.of(FaceContract.attachedCounters(baseline)),
            FaceContract.attachedReport());
    return new ProcessMemorySource(files, () -> 42, () -> 42)
        .read(() -> attached, stated, List::of)
        .resident()
        .orElseThrow()
        .parts();
  }

  private ProcessMemory read() {
    return source.read(() -> NOTHING_COUNTED, stated, List::of);
  }

  private static long seconds(int seconds) {
    return Duration.ofSeconds(seconds).toNanos();
  }

  private final class CountingFiles extends ProcessFiles {

    int statusRead;
    int mappingsRead;
    long costNanos = 12_000_000;
    boolean readable = true;
    boolean failing;
    String limit = "1000000\n";
    String status = "VmRSS:\t   51628 kB\nRssAnon:\t   3028 kB\nThreads:\t19\n";

    @Override
    Optional<String> text(Path path) {
      return readable ? Optional.ofNullable(known(path)) : Optional.empty();
    }

    private @Nullable String known(Path path) {
      return switch (path.toString()) {
        case "/proc/self/status" -> {
          statusRead++;
          yield status;
        }
        case "/proc/self/cgroup" -> "0::/\n";
        case "/proc/self/mountinfo" -> "31 24 0:27 / /cg rw shared:9 - cgroup2 cgroup2 rw\n";
        case "/cg/memory.current" -> "60000000\n";
        case "/cg/memory.max" -> limit;
        default -> null;
      };
    }

    @Override
    Optional<List<Mapping>> mappings() {
      mappingsRead++;
      processorNanos += costNanos;
      if (failing) {
        throw new OutOfMemoryError("Java heap space");
      }
      return readable
          ? Optional.of(Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt")))
          : Optional.empty();
    }
  }
}
