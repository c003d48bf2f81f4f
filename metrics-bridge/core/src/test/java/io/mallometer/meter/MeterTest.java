package io.mallometer.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.model.Baseline;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class MeterTest {

  /** The number of series of a histogram: buckets, sum and count. */
  private static final int HISTOGRAM_SERIES = SizeDistribution.CLASSES + 2;

  /**
   * The snapshot contains everything that can have a series, so every meter has all of its series.
   */
  @Test
  void aProcessHasAtMost150Series() {
    FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, 1), FaceContract.selfReport());
    mallometer.setMemory(everything());
    mallometer.setApplicationVersion("2.3.1");
    mallometer.setAllocator(FaceContract.allocator(7_000));
    try (mallometer) {
      Snapshot snapshot = mallometer.poll().with(mostNames()).with(mostLeaks());

      int series = Meter.all().stream().mapToInt(meter -> meter.series(snapshot).size()).sum();

      assertThat(series + HISTOGRAM_SERIES).isBetween(100, 150);
    }
  }

  /**
   * A meter refers to a component of a record by a name in a string, so the compiler cannot find a
   * wrong name.
   */
  @Test
  void eachRowShowsAPublishedComponentWithAMeaning() {
    assertThat(rows().count()).isGreaterThan(50);
    rows()
        .forEach(
            meter ->
                assertThat(meter.description())
                    .as("%s %s", meter.name(), meter.attribute())
                    .matches("[A-Z].{8,}[^.]")
                    .isNotEqualTo(meter.name()));
  }

  /**
   * Finds meters that never have a value, for example because they name a record component that is
   * not a number. The allocator's resident bytes are excepted, because glibc does not report them.
   */
  @Test
  void eachRowHasAValueInASnapshotThatKnowsAll() {
    FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, 1), FaceContract.selfReport());
    mallometer.setApplicationVersion("2.3.1");
    mallometer.setAllocator(FaceContract.allocator(7_000));
    mallometer.setPools(FaceContract.pools(1 << 20, 240));
    try (mallometer) {
      Snapshot all = mallometer.poll().with(mostNames()).with(mostLeaks()).with(growing());
      mallometer.setCounters(FaceContract.attachedCounters(new Baseline(5_000, 300)));
      List<Snapshot> known =
          List.of(all.with(everything()), mallometer.poll().with(FaceContract.memory(900_000)));

      assertThat(
              rows()
                  .filter(meter -> known.stream().allMatch(one -> meter.series(one).isEmpty()))
                  .map(meter -> meter.name() + meter.attribute().map(Meter.Attribute::name)))
          .containsExactly("Optional[ResidentBytes]");
    }
  }

  private static Diagnosis growing() {
    PreviousRun previous =
        new PreviousRun("a", 1, Instant.EPOCH, Instant.EPOCH, "oom", true, "killed", "");
    return new Diagnosis(
        Diagnosis.State.WATCH,
        Instant.EPOCH,
        "Memory grows",
        List.of(),
        Limit.of(2_000, 1_000, Limit.CGROUP).reachedIn(1, 2, 3),
        Optional.of(previous),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        List.of());
  }

  private static Stream<Meter> rows() {
    return Stream.concat(
            Meter.all().stream(),
            Stream.of("NativeMemory", "Allocator", "CallSites", "LeakDetector")
                .flatMap(bean -> Meter.shownBy(bean).stream()))
        .distinct();
  }

  @Test
  void noSeriesOfWhoHoldsTheMemoryIsUnknown() {
    FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, 1), FaceContract.selfReport());
    try (mallometer) {
      Snapshot snapshot = mallometer.poll().with(mostNames());

      assertThat(Meter.all())
          .filteredOn(meter -> meter.name().matches("native.malloc.(library|site).live"))
          .hasSize(2)
          .allSatisfy(
              meter ->
                  assertThat(meter.series(snapshot))
                      .hasSize(SiteSummary.STAYING + 1)
                      .noneMatch(
                          one -> Double.isNaN(one.figure().of(snapshot, mallometer.clock()))));
    }
  }

  private static SiteSummary mostNames() {
    List<SiteSummary.Share> most =
        IntStream.rangeClosed(0, SiteSummary.STAYING)
            .mapToObj(i -> new SiteSummary.Share("name" + i, i))
            .toList();
    Map<String, Double> resident =
        most.stream()
            .limit(SiteSummary.STAYING_RESIDENT + 1)
            .collect(Collectors.toMap(SiteSummary.Share::name, SiteSummary.Share::liveBytes));
    return new SiteSummary(Instant.EPOCH, most, most, resident, List.of(), 0);
  }

  private static LeakSummary mostLeaks() {
    List<SiteSummary.Share> most =
        IntStream.rangeClosed(0, LeakSummary.STAYING)
            .mapToObj(i -> new SiteSummary.Share("name" + i, i))
            .toList();
    return new LeakSummary(
        Instant.EPOCH,
        new LeakSummary.Counts(4, 3, 2, 3, 8, 5, 7),
        most,
        most,
        List.of(),
        Optional.empty());
  }

  private static ProcessMemory everything() {
    return new ProcessMemory(
        310_000,
        Optional.of(
            new ResidentMemory(
                Instant.EPOCH,
                300_000,
                all(ResidentPart.values()),
                2_000,
                3_000,
                true,
                321,
                0.005)),
        Optional.of(
            new CgroupMemory(
                2,
                400_000,
                all(ChargedPart.values()),
                900_000,
                800_000,
                390_000,
                5_000,
                Map.of("low", 1L, "high", 1L, "max", 1L, "oom", 1L, "oom_kill", 1L),
                Optional.empty())),
        Optional.empty());
  }

  private static <T> Map<T, Long> all(T[] parts) {
    return Arrays.stream(parts).collect(Collectors.toMap(Function.identity(), part -> 1L));
  }
}
