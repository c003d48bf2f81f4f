package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.model.AttachMode;
import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.spring.ApplicationSettings.AttachSetting;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CountingNoticeTest {

  private static final Attachment COMPLETE = new Attachment(300, 0, 0, 0.002, 0, 0);

  @Test
  void attachIsOneLine() {
    Snapshot attached = attached(new Baseline(88_185_241, 314_573), COMPLETE);

    assertThat(CountingNotice.attached(attached, "", "LD_PRELOAD=/x.so"))
        .isEqualTo(
            "Native memory is counted since 2026-01-02T03:04:05Z (attached); 84.1 MiB ± 307 KiB"
                + " were allocated before the attach. To count from the first instruction:"
                + " LD_PRELOAD=/x.so");
  }

  @Test
  void thePageIsNamedBehindTheWayIn() {
    assertThat(CountingNotice.counted(attached(), "http://localhost:8080/actuator/x/page"))
        .isEqualTo(
            "Native memory is counted since 2026-01-02T03:04:05Z (attached);"
                + " page at http://localhost:8080/actuator/x/page");
  }

  @Test
  void unknownBaselineIsBounded() {
    Snapshot attached = attached(new Baseline(Double.NaN, 300 << 20), COMPLETE);

    assertThat(CountingNotice.attached(attached, "", "LD_PRELOAD=/x.so"))
        .contains(
            "(attached); the memory allocated before the attach is unknown, at most 300 MiB."
                + " To count");
  }

  @Test
  void whatIsNotSeenIsNumbered() {
    Baseline baseline = new Baseline(1 << 20, 0);

    assertThat(
            CountingNotice.attached(
                attached(baseline, new Attachment(1, 2, 30, 0.002, 0, 0)), "", "LD_PRELOAD=/x.so"))
        .contains(
            ". Incomplete: 2 pointers to malloc could not be changed,"
                + " 30 calls of malloc are not seen. To count");
    assertThat(
            CountingNotice.attached(
                attached(baseline, new Attachment(1, 0, 0, 0.002, -9 << 20, 1)),
                "",
                "LD_PRELOAD=/x.so"))
        .contains(
            ". Incomplete: the live bytes that glibc reports differ by 9.0 MiB from those"
                + " counted. To");
  }

  @Test
  void refusalSaysWhyAndWhatToDo() {
    assertThat(
            CountingNotice.refused(
                new Status(State.UNAVAILABLE, "native access is denied", "Allow it")))
        .isEqualTo("Native memory is not counted: native access is denied. What to do: Allow it");
  }

  @Test
  void whereItIsSwitchedOffAttachingAndPreloadingAreOffered() {
    AttachSetting off = new AttachSetting(AttachMode.OFF, "mallometer.attach=off");

    assertThat(
            CountingNotice.off(
                new Status(State.UNAVAILABLE, "the library is not preloaded", "LD_PRELOAD=/x java"),
                off))
        .isEqualTo(
            "Native memory is not counted: mallometer.attach=off, and the library is not preloaded."
                + " What to do: Set it to auto, or preload the library: LD_PRELOAD=/x java");
    assertThat(
            CountingNotice.off(
                new Status(State.UNAVAILABLE, "there is no library for macos", "Run it in Linux"),
                off))
        .isEqualTo(
            "Native memory is not counted: there is no library for macos."
                + " What to do: Run it in Linux");
  }

  @Test
  void healthAndInfoTellOfAnAttach() {
    Snapshot attached = attached();

    assertThat(NativeMemoryDetails.health(attached))
        .containsAllEntriesOf(
            Map.of(
                "mode", "attached",
                "since", "2026-01-02T03:04:05.600Z",
                "allocatedBeforeBytes", 88_000_000L))
        .doesNotContainKey("incomplete");
    assertThat(
            NativeMemoryDetails.health(
                attached(new Baseline(1, 0), new Attachment(1, 0, 3, 0.002, 0, 0))))
        .containsEntry("incomplete", "3 calls of malloc are not seen");
    assertThat(NativeMemoryDetails.info(attached))
        .containsEntry("mode", "attached")
        .containsEntry("since", "2026-01-02T03:04:05.600Z");
  }

  @Test
  void unknownAndPreloadedHaveNothingFromBefore() {
    Snapshot unknown = attached(new Baseline(Double.NaN, 300_000), COMPLETE);
    Snapshot preloaded =
        new Snapshot(
            Instant.EPOCH,
            Status.counting(),
            Optional.of(FaceContract.counters(true, 32_768)),
            FaceContract.selfReport());
    Snapshot absent =
        Snapshot.absent(Instant.EPOCH, new Status(State.UNAVAILABLE, "no library", ""));

    assertThat(NativeMemoryDetails.health(unknown)).doesNotContainKey("allocatedBeforeBytes");
    assertThat(NativeMemoryDetails.health(preloaded))
        .containsEntry("mode", "preloaded")
        .doesNotContainKey("allocatedBeforeBytes");
    assertThat(NativeMemoryDetails.health(absent))
        .containsEntry("mode", "none")
        .doesNotContainKeys("since", "allocatedBeforeBytes");
  }

  static Snapshot attached() {
    return attached(new Baseline(88_000_000, 300_000), COMPLETE);
  }

  private static Snapshot attached(Baseline baseline, Attachment attachment) {
    NativeCounters counted = FaceContract.counters(true, 32_768);
    NativeCounters counters =
        new NativeCounters(
            counted.allocationsBySize(),
            counted.frees(),
            counted.failed(),
            counted.requestedBytes(),
            counted.allocatedBytes(),
            counted.freedBytes(),
            counted.peakBytes(),
            counted.peakErrorBytes(),
            counted.largestRequestBytes(),
            counted.hugeAllocations(),
            counted.threads(),
            counted.liveBytes() + baseline.bytes(),
            baseline,
            true);
    SelfReport self =
        new SelfReport(
            "0.1.0",
            "glibc 2.36",
            SelfReport.ATTACHED,
            Optional.of(Instant.parse("2026-01-02T03:04:05.600Z")),
            Optional.of(attachment),
            ByteUnit.GLIBC_CHUNK,
            0,
            0,
            0,
            0,
            0,
            SelfReport.Sampling.OFF,
            "");
    return new Snapshot(
        Instant.EPOCH, Status.counting(SelfReport.ATTACHED), Optional.of(counters), self);
  }
}
