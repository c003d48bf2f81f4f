package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.ScriptedLibrary;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Status;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests when the allocator is read, and how the trimmable bytes are computed. */
class AllocatorReaderTest {

  private static final double LIVE = 600_000;

  private final ScriptedLibrary library =
      new ScriptedLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final AtomicLong nanoTime = new AtomicLong(-5);
  private final AllocatorReader reader =
      new AllocatorReader(library, () -> false, Clock.systemUTC(), nanoTime::get);

  @Test
  void itIsAskedWithEachSplitAndEvery15Seconds() {
    ProcessMemory split = memory(50_000);
    library.setAllocator(statistics(1_000_000, 200_000));
    reader.read(split);
    library.setAllocator(statistics(2_000_000, 200_000));
    elapse(Duration.ofSeconds(14));
    reader.read(split);
    assertThat(systemBytes()).isEqualTo(1_000_000);

    reader.read(memory(50_000));
    assertThat(systemBytes()).isEqualTo(2_000_000);

    library.setAllocator(statistics(3_000_000, 200_000));
    elapse(Duration.ofSeconds(15));
    reader.read(ProcessMemory.unknown());
    assertThat(systemBytes()).isEqualTo(3_000_000);
  }

  @Test
  void whatIsDearIsAskedSeldom() {
    assertThat(AllocatorReader.rest(15_000_000)).isEqualTo(15_000_000_000L);
    assertThat(AllocatorReader.rest(100_000_000)).isEqualTo(100_000_000_000L);
    assertThat(AllocatorReader.rest(100_000_001)).isEqualTo(3_600_000_000_000L);
  }

  @Test
  void aDearReadingIsNotRepeatedWithTheNextSplit() {
    library.setAllocator(statistics(1_000_000, 200_000));
    library.onAllocatorReading(() -> elapse(Duration.ofMillis(20)));
    reader.read(memory(50_000));
    library.setAllocator(statistics(2_000_000, 200_000));
    elapse(Duration.ofSeconds(19));
    reader.read(memory(50_000));
    assertThat(systemBytes()).isEqualTo(1_000_000);

    elapse(Duration.ofSeconds(2));
    reader.read(memory(50_000));
    assertThat(systemBytes()).isEqualTo(2_000_000);
  }

  @Test
  void allReleasablePagesComeBackWhereAllOfTheAllocatorsMemoryIsResident() {
    library.setAllocator(statistics(LIVE + 400_000, 200_000));
    reader.read(memory(400_000));
    assertThat(trimmableBytes()).isEqualTo(200_000);
  }

  @Test
  void whatIsAbsentIsTakenForReleasable() {
    library.setAllocator(statistics(LIVE + 400_000, 200_000));
    reader.read(memory(270_000));
    assertThat(trimmableBytes()).isEqualTo(70_000);

    elapse(Duration.ofSeconds(11));
    reader.read(memory(100_000));
    assertThat(trimmableBytes()).isZero();
  }

  @Test
  void betweenTwoSplitsWhatATrimWouldGiveBackStaysAndIsNoMoreThanThereIs() {
    ProcessMemory split = memory(270_000);
    library.setAllocator(statistics(LIVE + 400_000, 200_000));
    reader.read(split);
    elapse(Duration.ofSeconds(15));
    library.setAllocator(statistics(LIVE + 900_000, 700_000));
    reader.read(split);
    assertThat(trimmableBytes()).isEqualTo(70_000);

    elapse(Duration.ofSeconds(15));
    library.setAllocator(statistics(LIVE + 900_000, 50_000));
    reader.read(split);
    assertThat(trimmableBytes()).isEqualTo(50_000);
  }

  @Test
  void afterATrimItIsUnknownUntilTheNextSplit() {
    ProcessMemory split = memory(400_000);
    library.setAllocator(statistics(LIVE + 400_000, 200_000));
    reader.read(split);
    reader.readAfterTrim();
    assertThat(trimmableBytes()).isNaN();
    elapse(Duration.ofSeconds(15));
    reader.read(split);
    assertThat(trimmableBytes()).isNaN();

    elapse(Duration.ofSeconds(15));
    reader.read(memory(220_000));
    assertThat(trimmableBytes()).isEqualTo(20_000);
  }

  @Test
  void withoutASplitGlibcsFigureIsUnknownAndOthersAreNot() {
    library.setAllocator(statistics(LIVE + 400_000, 200_000));
    reader.read(ProcessMemory.unknown());
    assertThat(trimmableBytes()).isNaN();

    elapse(Duration.ofSeconds(15));
    library.setAllocator(statistics(AllocatorKind.JEMALLOC, LIVE + 400_000, 200_000));
    reader.read(ProcessMemory.unknown());
    assertThat(trimmableBytes()).isEqualTo(200_000);
  }

  /**
   * After an attach, the live bytes and glibc's statistics both include the size word of each
   * block.
   */
  @Test
  void afterAnAttachATrimIsForetoldOnlyWhereWhatIsInUseIsKnown() {
    library.setStatus(Status.counting(SelfReport.ATTACHED));
    library.setCounters(FaceContract.attachedCounters(new Baseline(LIVE + 300_000, 0)));
    library.setAllocator(statistics(LIVE + 400_000, 200_000));
    reader.read(memory(270_000));
    assertThat(trimmableBytes()).isEqualTo(70_000);

    library.setCounters(FaceContract.attachedCounters(new Baseline(Double.NaN, 9e6)));
    elapse(Duration.ofSeconds(15));
    reader.read(memory(270_000));
    assertThat(trimmableBytes()).isNaN();
  }

  private double systemBytes() {
    return reader.latest().orElseThrow().systemBytes();
  }

  private double trimmableBytes() {
    return reader.latest().orElseThrow().trimmableBytes();
  }

  private void elapse(Duration duration) {
    nanoTime.addAndGet(duration.toNanos());
  }

  private static AllocatorStatistics statistics(double system, double releasable) {
    return statistics(AllocatorKind.GLIBC, system, releasable);
  }

  private static AllocatorStatistics statistics(
      AllocatorKind kind, double system, double releasable) {
    AllocatorStatistics some = FaceContract.allocator(Double.NaN);
    return new AllocatorStatistics(
        some.time(),
        kind,
        some.arenas(),
        system,
        some.usedBytes(),
        some.retainedBytes(),
        some.mappedBytes(),
        releasable,
        some.residentBytes(),
        Double.NaN,
        some.trims(),
        some.byArena(),
        some.advice(),
        some.costSeconds());
  }

  private static ProcessMemory memory(long retained) {
    return new ProcessMemory(
        2_000_000,
        Optional.of(
            new ResidentMemory(
                Instant.EPOCH,
                2_000_000,
                Map.of(ResidentPart.MALLOC_RETAINED, retained),
                0,
                0,
                false,
                100,
                0.01)),
        Optional.empty(),
        Optional.empty());
  }
}
