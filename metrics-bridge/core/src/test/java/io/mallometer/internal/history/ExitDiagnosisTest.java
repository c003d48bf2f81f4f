package io.mallometer.internal.history;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mallometer.internal.history.ExitDiagnosis.Kind;
import io.mallometer.internal.symbol.RecordedFrame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the report on how a run ended states all that is known, and no more. */
@Tag("any-jdk")
class ExitDiagnosisTest {

  static final PostMortem NOTHING_MORE = new PostMortem(false, false, Double.NaN);

  @TempDir private Path directory;
  private Path path = Path.of("unset");

  @BeforeEach
  void name() {
    path = directory.resolve("recording");
  }

  @Test
  void nearTheLimitWithoutGoodbyeIsMostLikelyAKill() throws Exception {
    Recordings.grownToTheLimit(path);
    ExitDiagnosis ending = diagnosed(NOTHING_MORE);

    assertThat(ending.kind()).isEqualTo(Kind.LIKELY_KILLED_BY_LIMIT);
    assertThat(ending.sentence())
        .isEqualTo(
            "ended without an exit record at 99 % of the limit of 2.0 GiB, so it was most likely"
                + " killed for exceeding it; malloc live 1.9 GiB, +1.4 GiB in 40 min; resident 1.9"
                + " GiB, +1.4 GiB in"
                + " 40 min");
  }

  @Test
  void aRisenCountOfTheKernelMakesItAKill() throws Exception {
    Recordings.grownToTheLimit(path);
    ExitDiagnosis ending = diagnosed(new PostMortem(false, false, 1.0));

    assertThat(ending.kind()).isEqualTo(Kind.KILLED_BY_LIMIT);
    assertThat(ending.sentence())
        .startsWith(
            "was OOM-killed at 12:40:00 at 99 % of the limit of 2.0 GiB (the kernel's count of kills"
                + " rose from 0 to 1)");
  }

  @Test
  void farFromTheLimitNoCauseIsClaimed() throws Exception {
    ExitDiagnosis ending = ended(Recordings.figures(100e6, 200e6, 400e6, 1e9), NOTHING_MORE);

    assertThat(ending.kind()).isEqualTo(Kind.WITHOUT_GOODBYE);
    assertThat(ending.sentence())
        .startsWith("ended without an exit record at 40 % of the limit")
        .contains("(kill -9, a crash, or the machine)")
        .doesNotContain("was killed");
  }

  @Test
  void aKillOfSomebodyInTheCgroupIsNotCalledAKillOfThisProcess() throws Exception {
    ExitDiagnosis ending =
        ended(Recordings.figures(100e6, 200e6, 400e6, 1e9), new PostMortem(false, false, 3.0));

    assertThat(ending.kind()).isEqualTo(Kind.LIKELY_KILLED_BY_LIMIT);
    assertThat(ending.sentence())
        .startsWith(
            "was most likely OOM-killed at 12:00:01 (the kernel's count of kills rose from 0 to 3;"
                + " that may have been another process of the cgroup)")
        .doesNotContain("%");
    assertThat(ending.inShort(RecordedLife.read(path)))
        .isEqualTo("The previous run was most likely OOM-killed at 12:00 UTC");
  }

  @Test
  void aKillDuringAShutdownFarBelowTheLimitLeavesItAShutdown() throws Exception {
    shutdown(Recordings.figures(1e6, 2e6, 400e6, 1e9));
    ExitDiagnosis ending = diagnosed(new PostMortem(false, false, 1.0));

    assertThat(ending.kind()).isEqualTo(Kind.KILLED_IN_SHUTDOWN);
    assertThat(ending.sentence()).startsWith("was ended during its shutdown, 30 s after");
  }

  @Test
  void aKillDuringAShutdownNearTheLimitIsAKill() throws Exception {
    shutdown(Recordings.figures(1e6, 2e6, 990e6, 1e9));
    ExitDiagnosis ending = diagnosed(new PostMortem(false, false, 1.0));

    assertThat(ending.kind()).isEqualTo(Kind.KILLED_BY_LIMIT);
    assertThat(ending.sentence())
        .startsWith("was OOM-killed at 12:00:40 during its shutdown at 99 %");
  }

  @Test
  void aBurstBeforeTheKillIsNamedWithItsLineBytesAndThread() throws Exception {
    burst(1.4, 900e6, "http-8");
    RecordedLife life = RecordedLife.read(path);
    ExitDiagnosis ending = ExitDiagnosis.of(life, new PostMortem(false, false, 1));

    assertThat(ending.kind()).isEqualTo(Kind.KILLED_BY_LIMIT);
    assertThat(ending.sentence())
        .startsWith(
            "was OOM-killed at 12:00:01 at 99 % of the limit of 954 MiB; in the last 0.3 s"
                + " Buffers.grab (Buffers.java:7) allocated 572 MiB on http-8 (the kernel's count");
    assertThat(ending.inShort(life))
        .isEqualTo(
            "The previous run was OOM-killed at 12:00:01 UTC at 99 % of 954 MiB; in the last 0.3 s"
                + " Buffers.grab (Buffers.java:7) allocated 572 MiB on http-8");
  }

  @Test
  void aBurstThatEndedBeforeTheRunIsToldWithItsAge() throws Exception {
    burst(-2.5, 900e6, "http-8");

    assertThat(diagnosed(NOTHING_MORE).sentence())
        .contains(
            "; in 0.3 s, 3.5 s before the end, Buffers.grab (Buffers.java:7) allocated 572 MiB");
  }

  @Test
  void aBurstNearTheLimitWithoutTheKernelsCountIsMostLikelyAKill() throws Exception {
    burst(1.4, 900e6, "http-8");

    assertThat(diagnosed(NOTHING_MORE).kind()).isEqualTo(Kind.LIKELY_KILLED_BY_LIMIT);
  }

  @Test
  void cachedFilesDoNotCountInTheShareOfABurst() throws Exception {
    burst(1.4, 900e6, "http-8");
    ByteBuffer before = Recordings.figures(1e6, 2e6, 400e6, 1e9);
    before.putLong(RecordingFormat.SAMPLE_FILE_BYTES, 300_000_000);
    try (RecordingFile file = new RecordingFile(path, RecordedLife.read(path).header().life())) {
      Recordings.sample(file, 1, 0.5, before);
    }
    ExitDiagnosis ending = diagnosed(NOTHING_MORE);

    assertThat(ending.kind()).isEqualTo(Kind.WITHOUT_GOODBYE);
    assertThat(ending.sentence()).contains(" at 69 % of the limit");
  }

  @Test
  void aBurstLongBeforeTheEndIsNotItsCause() throws Exception {
    burst(-5, 900e6, "http-8");

    assertThat(diagnosed(NOTHING_MORE).sentence())
        .startsWith("ended without an exit record at 40 %")
        .doesNotContain("Buffers");
  }

  @Test
  void aLineWithASmallPartOfTheRiseIsNotNamed() throws Exception {
    burst(1.4, 100e6, "http-8");

    assertThat(diagnosed(NOTHING_MORE).sentence()).doesNotContain("Buffers");
  }

  @Test
  void aFrameWithoutANameHasNoCallerBlamedForIt() {
    long unnamed = RecordedFrame.ofJava(1, 5);
    long caller = RecordedFrame.ofJava(2, 7);
    ByteBuffer record =
        RecordingFile.buffer(RecordingFormat.FRAME_BYTES + RecordingFormat.BURST_BYTES);
    int burst = RecordingFormat.FRAME_BYTES;
    int site = burst + RecordingFormat.BURST_GROWN;
    record.putLong(burst + RecordingFormat.BURST_CHARGED_BYTES, 100_000_000);
    record.putInt(burst + RecordingFormat.BURST_SITES, 1);
    record.putLong(site + RecordingFormat.GROWN_LIVE_BYTES, 100_000_000);
    record.putInt(site + RecordingFormat.GROWN_FRAMES, 2);
    record.putLong(site + RecordingFormat.GROWN_STACK, unnamed);
    record.putLong(site + RecordingFormat.GROWN_STACK + Long.BYTES, caller);
    String line = "%016x\tLshop/Buffers;\tgrab\tBuffers.java\t7\n";

    assertThat(FastRise.read(record, FastRise.names(line.formatted(caller))).sentence(0)).isEmpty();
    assertThat(FastRise.read(record, FastRise.names(line.formatted(unnamed))).sentence(0))
        .hasValueSatisfying(words -> assertThat(words).contains("Buffers.grab"));
    String hostile = line.formatted(unnamed).replace("Buffers.java", "Buffers\u001b[31m.java");
    assertThat(FastRise.read(record, FastRise.names(hostile)).sentence(0))
        .hasValueSatisfying(words -> assertThat(words).contains("(Buffers?[31m.java:7)"));
    assertThat(FastRise.names("a\n".repeat(100_000) + line.formatted(unnamed))).isEmpty();
  }

  @Test
  void anExitAfterABurstIsAnExit() throws Exception {
    burst(1.4, 900e6, "");
    try (RecordingFile file = new RecordingFile(path, 0)) {
      Recordings.sample(file, 3, 1.5, Recordings.figures(1e6, 2e6, 400e6, 1e9));
    }

    assertThat(diagnosed(NOTHING_MORE).sentence())
        .startsWith("exited with code 0 at 40 % of the limit")
        .doesNotContain("Buffers");
  }

  /**
   * Records that memory rose fast from 400 to 995 MB, under a limit of 1,000 MB. Two call sites
   * with equal stacks have each grown by a third of {@code bytes}.
   */
  private void burst(double second, double bytes, String thread) throws IOException {
    long jdk = RecordedFrame.ofJava(1, 5);
    long grab = RecordedFrame.ofJava(2, 7);
    String names =
        "%016x\tLjava/nio/ByteBuffer;\tallocate\tByteBuffer.java\t300\nnonsense\n%016x\tLshop/Buffers;\tgrab\tBuffers.java\t7\n"
            .formatted(jdk, grab);
    ByteBuffer record =
        RecordingFile.buffer(RecordingFormat.FRAME_BYTES + RecordingFormat.BURST_BYTES);
    int burst = RecordingFormat.FRAME_BYTES;
    long nanos = Recordings.START_NANOS + (long) (second * Recordings.SECOND);
    record.putLong(burst + RecordingFormat.BURST_BEGIN_MONOTONIC_NS, nanos - 300_000_000);
    record.putLong(burst + RecordingFormat.BURST_BEGIN_BYTES, 400_000_000);
    record.putLong(burst + RecordingFormat.BURST_CHARGED_BYTES, 995_000_000);
    record.putLong(burst + RecordingFormat.BURST_LIMIT_BYTES, 1_000_000_000);
    record.putInt(burst + RecordingFormat.BURST_SITES, 2);
    for (int i = 0; i < 2; i++) {
      int site = burst + RecordingFormat.BURST_GROWN + i * RecordingFormat.GROWN_BYTES;
      record.putLong(site + RecordingFormat.GROWN_LIVE_BYTES, (long) (bytes / 3));
      record.put(site + RecordingFormat.GROWN_THREAD_NAME, thread.getBytes(US_ASCII));
      record.putInt(site + RecordingFormat.GROWN_FRAMES, 2);
      record.putLong(site + RecordingFormat.GROWN_STACK, jdk);
      record.putLong(site + RecordingFormat.GROWN_STACK + Long.BYTES, grab);
    }
    try (RecordingFile file = Recordings.open(path)) {
      Recordings.sample(file, 0, 0, Recordings.figures(1e6, 2e6, 400e6, 1e9));
      Recordings.sample(file, 0, 1, Recordings.figures(1e6, 2e6, 400e6, 1e9));
      Recordings.sample(file, 9, second, record);
      byte[] text = names.getBytes(US_ASCII);
      ByteBuffer named = RecordingFile.buffer(RecordingFormat.FRAME_BYTES + text.length);
      named.put(RecordingFormat.FRAME_BYTES, text);
      Recordings.sample(file, 10, second, named);
    }
  }

  @Test
  void withoutALimitNoShareIsClaimed() throws Exception {
    assertThat(ended(Recordings.figures(1e6, 2e6, 4e6, Double.NaN), NOTHING_MORE).sentence())
        .doesNotContain("%")
        .doesNotContain("NaN");
  }

  @Test
  void pageCacheThatTheKernelGivesUpFirstDoesNotCount() throws Exception {
    ByteBuffer sample = Recordings.figures(100e6, 200e6, 995e6, 1e9);
    sample.putLong(RecordingFormat.SAMPLE_FILE_BYTES, 700_000_000);

    assertThat(ended(sample, NOTHING_MORE).kind()).isEqualTo(Kind.WITHOUT_GOODBYE);
  }

  @Test
  void anotherRunOfTheMachineIsSaid() throws Exception {
    assertThat(
            ended(
                    Recordings.figures(1e6, 2e6, 4e6, Double.NaN),
                    new PostMortem(false, true, Double.NaN))
                .sentence())
        .contains("the machine was restarted");
  }

  @Test
  void aFileThatIsWrittenIsNoEnd() throws Exception {
    assertThat(
            ended(Recordings.figures(1e6, 2e6, 990e6, 1e9), new PostMortem(true, false, Double.NaN))
                .kind())
        .isEqualTo(Kind.RUNNING);
  }

  @Test
  void anExitIsAnExitWithItsCodeAlsoNearTheLimit() throws Exception {
    ExitDiagnosis ending = exited(143);

    assertThat(ending.kind()).isEqualTo(Kind.EXITED);
    assertThat(ending.sentence()).startsWith("exited with code 143 at 99 %");
    assertThat(ending.alarming()).isFalse();
  }

  @Test
  void anExitWhoseStatusTheCLibraryDoesNotTellIsAnExit() throws Exception {
    ExitDiagnosis ending = exited(RecordingFormat.STATUS_NOT_TOLD);

    assertThat(ending.kind()).isEqualTo(Kind.EXITED);
    assertThat(ending.sentence()).startsWith("ended (status unknown) at 99 %");
  }

  private ExitDiagnosis exited(int status) throws IOException {
    try (RecordingFile file = Recordings.open(path)) {
      Recordings.sample(file, 0, 1, Recordings.figures(1e6, 2e6, 990e6, 1e9));
      ByteBuffer goodbye = Recordings.figures(1e6, 2e6, 990e6, 1e9);
      goodbye.putInt(RecordingFormat.SAMPLE_FLAGS, status);
      Recordings.sample(file, 3, 2, goodbye);
    }
    return diagnosed(NOTHING_MORE);
  }

  @Test
  void aShutdownThatWasCutShortIsReportedWithItsLength() throws Exception {
    shutdown(Recordings.figures(1e6, 2e6, 4e6, 1e9));
    ExitDiagnosis ending = diagnosed(NOTHING_MORE);

    assertThat(ending.kind()).isEqualTo(Kind.KILLED_IN_SHUTDOWN);
    assertThat(ending.sentence())
        .startsWith(
            "was ended during its shutdown, 30 s after it had begun, without an exit record");
  }

  private void shutdown(ByteBuffer last) throws IOException {
    try (RecordingFile file = Recordings.open(path)) {
      file.write(
          RecordingFormat.SHUTDOWN,
          0,
          Recordings.START.plusSeconds(10),
          Recordings.START_NANOS + 10 * Recordings.SECOND,
          new byte[0]);
      Recordings.sample(file, 0, 40, last);
    }
  }

  /**
   * A named pipe replaces the kernel's count of OOM kills. Nothing is written to the pipe, so a
   * read from it would never return.
   */
  @Test
  @Tag("process")
  void aPipeInThePlaceOfTheKernelsCountHoldsNobodyUp() throws Exception {
    Path cgroup = Files.createDirectory(directory.resolve("cgroup"));
    Path events = cgroup.resolve("memory.events");
    assertThat(new ProcessBuilder("mkfifo", events.toString()).start().waitFor()).isZero();

    assertThat(
            assertTimeoutPreemptively(
                Duration.ofSeconds(30), () -> PostMortem.of(lifeIn(cgroup), false).oomKills()))
        .isNaN();
    Files.delete(events);
    Files.writeString(events, "oom 1\noom_kill 3\n");
    assertThat(PostMortem.of(lifeIn(cgroup), false).oomKills()).isEqualTo(3);
  }

  /** Returns a recorded run in a cgroup, after the latest boot of this machine. */
  private static RecordedLife lifeIn(Path cgroup) throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    long inode = (Long) Files.getAttribute(cgroup, "unix:ino");
    return new RecordedLife(
        new RecordedLife.Header(
            1,
            Recordings.START,
            0,
            4711,
            boot,
            new RecordedLife.RecordedLibrary("", ""),
            "java",
            new RecordedLife.RecordedCgroup(cgroup.toString(), inode)),
        List.of(),
        new RecordedLife.End(Optional.empty(), 0, Optional.empty()),
        Optional.empty(),
        new RecordedLife.Parts(List.of(), List.of()),
        Map.of(),
        Optional.empty(),
        new RecordedLife.Damage(0, false));
  }

  @Test
  void nothingRecordedIsSaid() throws Exception {
    Recordings.open(path).close();

    assertThat(diagnosed(NOTHING_MORE).kind()).isEqualTo(Kind.UNKNOWN);
  }

  private ExitDiagnosis ended(ByteBuffer lastSample, PostMortem aftermath) throws IOException {
    try (RecordingFile file = Recordings.open(path)) {
      Recordings.sample(file, 0, 0, Recordings.figures(1e6, 2e6, 4e6, Double.NaN));
      Recordings.sample(file, 0, 1, lastSample);
    }
    return diagnosed(aftermath);
  }

  private ExitDiagnosis diagnosed(PostMortem aftermath) throws IOException {
    return ExitDiagnosis.of(RecordedLife.read(path), aftermath);
  }
}
