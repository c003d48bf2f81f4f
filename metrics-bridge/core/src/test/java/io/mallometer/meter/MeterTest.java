package io.mallometer.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.LeakSummary;
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
import org.junit.jupiter.api.Test;

/** What all meters together are. */
class MeterTest {

  /** Buckets, sum and count. */
  private static final int HISTOGRAM_SERIES = SizeDistribution.CLASSES + 2;

  /** With every part and every event known, and as many names as there ever are. */
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
    return new SiteSummary(Instant.EPOCH, most, most, List.of());
  }

  private static LeakSummary mostLeaks() {
    List<SiteSummary.Share> most =
        IntStream.rangeClosed(0, LeakSummary.STAYING)
            .mapToObj(i -> new SiteSummary.Share("name" + i, i))
            .toList();
    return new LeakSummary(Instant.EPOCH, 4, 3, 2, 3, 8, 7, most, List.of(), Optional.empty());
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
