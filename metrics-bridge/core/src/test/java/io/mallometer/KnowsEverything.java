package io.mallometer;

import io.mallometer.internal.history.Recorder;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Baseline;
import io.mallometer.model.CallSites;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Opens mallometer with a fake library that reports every possible metric. A service with this
 * mallometer shows all names in {@link PublicNames} on any machine.
 */
public final class KnowsEverything implements AutoCloseable {

  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");

  private final ScriptedLibrary library =
      new ScriptedLibrary(
          FaceContract.attachedCounters(new Baseline(5_000_000, 300_000)),
          FaceContract.attachedReport());
  private final FakeMallometer mallometer = new FakeMallometer(library);

  /**
   * Reads call sites twice, ten minutes apart.
   *
   * @param recording a recording of an earlier run
   */
  public KnowsEverything(Path recording) {
    mallometer.setMemory(memory(6, 0));
    mallometer.setApplicationVersion("2.3.1");
    library.setOwnerSearch(new OwnersByHand());
    mallometer.setAllocator(allocator());
    mallometer.setHugeAllocations(List.of(new HugeAllocation(1, TIME, 99_000_000, 4711, "worker")));
    mallometer.setPools(FaceContract.pools(1 << 20, 240));
    mallometer.setSites(afterAttach(SitesByHand.three()));
    counts(true);
    mallometer.sites().read();
    grow();
    record(recording);
    mallometer.setSites(
        afterAttach(
            SitesByHand.reading(
                TIME.plus(Duration.ofMinutes(10)),
                List.of(SitesByHand.site(7, "com.shop.Cart.zip", "libzip.so", 340_000)))));
    mallometer.sites().read();
    mallometer.setLeaks(VerdictsByHand.five());
    mallometer.poll();
  }

  private void grow() {
    mallometer.starting(true);
    mallometer.starting(false);
    for (int second = 0; second < 600; second += 5) {
      mallometer.setMemory(memory((100L + second) << 20, second));
      mallometer.advance(Duration.ofSeconds(5));
      mallometer.poll();
    }
  }

  private void record(Path recording) {
    Recorder recorder = mallometer.engine().recorder();
    recorder.want(recording);
    recorder.begin();
    library.setRecording(RecordingStatus.failed(recording.toString(), "No space left on device"));
    recorder.close();
    recorder.begin();
  }

  public Mallometer mallometer() {
    return mallometer;
  }

  public void counts(boolean whether) {
    mallometer.setStatus(
        whether
            ? Status.counting(SelfReport.ATTACHED)
            : new Status(State.DISABLED, "switched off", "switch it on"));
    mallometer.poll();
  }

  @Override
  public void close() {
    mallometer.close();
  }

  private static CallSites afterAttach(CallSites sites) {
    return sites.since(
        FaceContract.attachedReport(),
        FaceContract.attachedCounters(new Baseline(5_000_000, 300_000)));
  }

  private static ProcessMemory memory(long workingSetBytes, int second) {
    return new ProcessMemory(
        14,
        Optional.of(
            new ResidentMemory(
                TIME.plusSeconds(second),
                14,
                byPart(ResidentPart.values()),
                2,
                0,
                true,
                ResidentMemory.BY_FRAMES,
                321,
                0.005,
                4,
                Map.of("libjvm.so", (long) second << 20),
                Optional.of(FaceContract.hugePages()),
                FaceContract.threadStacks(),
                FaceContract.pageCache(),
                Optional.of(
                    List.of(
                        new ResidentMemory.Mapped(
                            "com.shop.Index.open", "Index.java:12", (long) second << 20))))),
        Optional.of(
            new CgroupMemory(
                2,
                workingSetBytes + 1,
                byPart(ChargedPart.values()),
                1 << 30,
                900,
                workingSetBytes,
                5,
                Map.of("oom_kill", 3L),
                Optional.of(new CgroupMemory.Pressure(1.5, 0.5, 0.01, 0.002)))),
        FaceContract.memory(1 << 30).budget());
  }

  private static <P> Map<P, Long> byPart(P[] parts) {
    return Arrays.stream(parts).collect(Collectors.toMap(Function.identity(), part -> 1L));
  }

  private static AllocatorStatistics allocator() {
    AllocatorStatistics some = FaceContract.allocator(7_000);
    return new AllocatorStatistics(
        some.time(),
        some.kind(),
        some.arenas(),
        some.systemBytes(),
        some.usedBytes(),
        some.retainedBytes(),
        some.mappedBytes(),
        some.releasableBytes(),
        80_000,
        some.trimmableBytes(),
        some.trims(),
        some.byArena(),
        some.advice(),
        some.costSeconds());
  }
}
