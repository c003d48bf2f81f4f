package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mallometer.Logged;
import io.mallometer.SilentLibrary;
import io.mallometer.SitesByHand;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.model.CallSites;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what Java writes to a recording. The tests set the time. */
class RecorderTest {

  private static final long MIB = 1 << 20;

  private static final List<KnownLeak> KNOWN =
      List.of(
          new KnownLeak("0123456789abcdef", Recordings.START, LeakEvidence.LOST),
          new KnownLeak("00000000000000ff", Recordings.START, LeakEvidence.OUTLASTED));

  private final class Library extends SilentLibrary {
    private RecordingStatus recording = RecordingStatus.off();
    private @Nullable RecordingFile file;

    Library() {
      super(Status.counting());
    }

    @Override
    public RecordingStatus recording() {
      return recording;
    }

    @Override
    public RecordingStatus record(Path path) {
      try {
        RecordingFile made = Recordings.open(path);
        file = made;
        recording = new RecordingStatus(RecordingStatus.State.ON, path.toString(), made.life(), "");
      } catch (IOException e) {
        recording = RecordingStatus.failed(path.toString(), e.toString());
      }
      return recording;
    }

    @Override
    public String writeRecording(int kind, int percent, byte[] content) {
      RecordingFile open = file;
      if (open == null || !refusal.isEmpty()) {
        return refusal;
      }
      try {
        open.write(kind, percent, now(), nanos, content);
        return "";
      } catch (IOException e) {
        return e.toString();
      }
    }
  }

  @TempDir private Path directory;
  private Path path = Path.of("unset");
  private long nanos = Recordings.START_NANOS;
  private Optional<SiteSummary> sites = Optional.empty();
  private List<KnownLeak> leaks = List.of();
  private String refusal = "";
  private final Logged logged = new Logged("io.mallometer.Mallometer");
  private NativeLibrary library = new Library();
  private Recorder recorder = recorder();

  private Recorder recorder() {
    return new Recorder(library, () -> nanos, null);
  }

  @BeforeEach
  void name() {
    path = directory.resolve("recording");
  }

  @AfterEach
  void close() {
    recorder.close();
    logged.close();
  }

  @Test
  void withoutAWishThereIsNothing() throws Exception {
    recorder.observe(snapshot(100), leaks);

    assertThat(recorder.recording()).isEqualTo(RecordingStatus.off());
    try (var files = Files.list(directory)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void withoutTheLibraryNothingIsRecordedUntilItIsThere() throws Exception {
    library = new SilentLibrary(new Status(State.UNAVAILABLE, "", ""));
    recorder = recorder();
    start();
    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.FAILED);
    assertThat(recorder.recording().reason()).contains("the library is not in this process");
    assertThat(path).doesNotExist();
  }

  @Test
  void withoutTheLibraryThePreviousRunIsToldOnce() throws Exception {
    Recordings.grownToTheLimit(path);
    library = new SilentLibrary(new Status(State.UNAVAILABLE, "", ""));
    recorder = recorder();
    start();
    observeFor(Duration.ofMinutes(1), 100);

    assertThat(logged.messages())
        .singleElement()
        .asString()
        .startsWith("The previous run (process 4711, until 2026-01-01 12:40:00 UTC)")
        .endsWith(
            "bin/mallometer report %s (once this run records: %s.previous)".formatted(path, path));
    assertThat(recorder.previousRun())
        .get()
        .satisfies(life -> assertThat(life.file()).isEqualTo(path.toString()));
    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.FAILED);
  }

  @Test
  void breakdownIsWrittenEachMinute() throws Exception {
    start();
    observeFor(Duration.ofMinutes(5), 100);
    RecordedLife life = RecordedLife.read(path);

    assertThat(life.parts().minutes()).hasSizeBetween(5, 6);
    assertThat(life.parts().minutes().get(0).text().table("part"))
        .containsEntry("java_heap", 50 * MIB);
    assertThat(life.jvm().flatMap(jvm -> jvm.word("java-version")))
        .contains(System.getProperty("java.version"));
  }

  @Test
  void whoHeldTheMemoryIsWrittenAndPrintedWithItsGrowth() throws Exception {
    sites = Optional.of(summary(12, 30, MIB));
    start();
    observeFor(Duration.ofMinutes(3), 100);
    sites = Optional.of(summary(12, 30, 3 * MIB));
    observeFor(Duration.ofMinutes(3), 100);

    RecordedText last = lastMinute();
    assertThat(last.text().table("library"))
        .hasSize(10)
        .containsEntry("libm00.so", 3 * MIB)
        .doesNotContainKey("other");
    assertThat(last.text().table("site")).hasSize(20).containsEntry("a.B.m19", 3 * MIB);
    assertThat(RecordingReport.of(path))
        .contains("malloc live by library, estimated from samples")
        .containsPattern("libm00\\.so +3\\.0 MiB +\\+2\\.0 MiB")
        .contains("malloc live by call site, estimated from samples")
        .containsPattern("a\\.B\\.m19 +3\\.0 MiB +\\+2\\.0 MiB");
  }

  /**
   * A line that does not fit is left out as a whole, because a truncated number would be a wrong
   * one.
   */
  @Test
  void namesThatDoNotFitAreLeftOutWhole() throws Exception {
    start();
    long bytes = 1_234_567_890_123L;
    sites =
        Optional.of(
            new SiteSummary(
                Recordings.START,
                List.of(),
                List.of(),
                IntStream.range(0, 20)
                    .mapToObj(i -> new SiteSummary.Share(i + "\u4e16".repeat(500), bytes))
                    .toList()));
    observeFor(Duration.ofMinutes(2), 100);

    RecordedText last = lastMinute();
    assertThat(last.text().table("part")).containsEntry("java_heap", 50 * MIB);
    assertThat(last.text().table("site").values()).hasSizeBetween(5, 19).containsOnly(bytes);
  }

  private RecordedText lastMinute() throws Exception {
    List<RecordedText> minutes = RecordedLife.read(path).parts().minutes();
    return minutes.get(minutes.size() - 1);
  }

  private static SiteSummary summary(int libraries, int sites, long bytes) {
    return new SiteSummary(
        Recordings.START,
        Stream.concat(
                shares("libm%02d.so", libraries, bytes),
                Stream.of(new SiteSummary.Share(SiteSummary.OTHER, 5)))
            .toList(),
        List.of(),
        shares("a.B.m%02d", sites, bytes).toList());
  }

  private static Stream<SiteSummary.Share> shares(String name, int count, long bytes) {
    return IntStream.range(0, count).mapToObj(i -> new SiteSummary.Share(name.formatted(i), bytes));
  }

  @Test
  void exceedingTheLimitsSharesIsWrittenAtOnceAndOnce() throws Exception {
    start();
    for (long charged : new long[] {800, 860, 870, 855, 910, 960, 990, 700, 860}) {
      nanos += 5 * Recordings.SECOND;
      assertThat(recorder.exceeds(snapshot(charged)))
          .isEqualTo(List.of(860L, 910L, 960L).contains(charged));
      recorder.observe(snapshot(charged), leaks);
    }

    assertThat(RecordedLife.read(path).parts().exceeded())
        .extracting(text -> text.text().word("threshold-percent").orElse(""))
        .containsExactly("85", "90", "95", "85");
  }

  // ---- Call sites in the recording

  @Test
  void callSitesOfEachMomentAreThereUntilTheNextOfItsKind() throws Exception {
    start();
    keep(KeptMoment.PEAK, 1);
    keep(KeptMoment.LIMIT_85, 2);
    keep(KeptMoment.LIMIT_95, 3);
    keep(KeptMoment.LIMIT_85, 4);

    RecordedLife life = RecordedLife.read(path);
    assertThat(life.profiles())
        .containsOnlyKeys(KeptMoment.PEAK, KeptMoment.LIMIT_85, KeptMoment.LIMIT_95);
    assertThat(liveBytes(life, KeptMoment.PEAK)).isEqualTo(1);
    assertThat(liveBytes(life, KeptMoment.LIMIT_85)).isEqualTo(4);
    assertThat(liveBytes(life, KeptMoment.LIMIT_95)).isEqualTo(3);
    assertThat(RecordingReport.of(path)).contains("at 95 % of the limit: 3 B live, of which a.B.c");
    assertThatThrownBy(() -> RecordingReport.profile(path, KeptMoment.LIMIT_90))
        .hasMessage(
            "the recording has no call sites at 90 % of the limit; it has those at the peak, at"
                + " 85 %"
                + " of the limit, at 95 % of the limit");
  }

  /** The process may be killed before the next poll, so the call sites are written immediately. */
  @Test
  void callSitesOfAnExceededShareAreWrittenAtOnce() throws Exception {
    start();
    recorder.keep(KeptMoment.LIMIT_95, reading(3));
    assertThat(liveBytes(RecordedLife.read(path), KeptMoment.LIMIT_95)).isEqualTo(3);
  }

  @Test
  void peaksAreWrittenOnceAMinuteAndATornOneLeavesTheOneBefore() throws Exception {
    start();
    keep(KeptMoment.PEAK, 1);
    keep(KeptMoment.PEAK, 2);
    assertThat(liveBytes(RecordedLife.read(path), KeptMoment.PEAK)).isEqualTo(1);
    observeFor(Duration.ofMinutes(1), 100);
    assertThat(liveBytes(RecordedLife.read(path), KeptMoment.PEAK)).isEqualTo(2);

    long second = Recordings.LAYOUT[8].offset();
    for (long slot : new long[] {second, second + Recordings.LAYOUT[8].slotBytes()}) {
      byte[] torn = Files.readAllBytes(path);
      torn[(int) slot + RecordingFormat.FRAME_BYTES + 20] ^= 1;
      RecordedLife life = RecordedLife.parse(torn);
      assertThat(life.damage().tornRecords()).isEqualTo(1);
      assertThat(liveBytes(life, KeptMoment.PEAK)).isIn(1.0, 2.0);
    }
  }

  private void keep(KeptMoment moment, double liveBytes) {
    recorder.keep(moment, reading(liveBytes));
    nanos += Recordings.SECOND;
    recorder.observe(snapshot(100), leaks);
  }

  private static CallSites reading(double liveBytes) {
    return SitesByHand.reading(SitesByHand.site(1, "a.B.c", "liba.so", liveBytes));
  }

  private static double liveBytes(RecordedLife life, KeptMoment moment) throws Exception {
    return life.profile(moment).sites().get(0).liveBytes().value();
  }

  @Test
  void theLastLifeIsToldAndMovedAside() throws Exception {
    Recordings.grownToTheLimit(path);
    start();

    assertThat(logged.messages())
        .singleElement()
        .asString()
        .startsWith("The previous run (process 4711, until 2026-01-01 12:40:00 UTC)")
        .contains("at 99 % of the limit of 2.0 GiB")
        .contains("malloc live 1.9 GiB, +1.4 GiB in 40 min")
        .endsWith("bin/mallometer report " + path + ".previous");
    assertThat(RecordedLife.read(Path.of(path + ".previous")).header().pid()).isEqualTo(4711);
    assertThat(recorder.previousRun())
        .get()
        .satisfies(life -> assertThat(life.pid()).isEqualTo(4711))
        .satisfies(life -> assertThat(life.alarming()).isTrue())
        .satisfies(life -> assertThat(life.file()).isEqualTo(path + ".previous"))
        .satisfies(life -> assertThat(life.sentence()).contains("at 99 % of 2.0 GiB"))
        .satisfies(life -> assertThat(life.report()).contains("malloc live", "12:40:00"));
  }

  // ---- Leaks for the next run

  @Test
  void leaksAreToldToTheNextRunOnce() throws Exception {
    leaks = KNOWN;
    start();
    endRun();
    start();

    assertThat(recorder.takeKnownLeaks()).isEqualTo(KNOWN);
    assertThat(recorder.takeKnownLeaks()).isEmpty();
  }

  @Test
  void theLatestWordHolds() throws Exception {
    leaks = KNOWN;
    start();
    leaks = KNOWN.subList(1, 2);
    observeFor(Duration.ofSeconds(5), 100);
    endRun();
    start();

    assertThat(recorder.takeKnownLeaks()).isEqualTo(KNOWN.subList(1, 2));
  }

  /** A redeployed web application has a new class loader, and thus a new recorder. */
  @Test
  void whatThisRunRecordedIsToldToTheNextThatWritesTheFile() throws Exception {
    leaks = KNOWN;
    start();
    recorder.close();
    recorder = recorder();
    start();

    assertThat(recorder.takeKnownLeaks()).isEqualTo(KNOWN);
  }

  @Test
  void sixtyFourLeaksLeaveRoomForWhereTheMemoryIs() throws Exception {
    leaks =
        IntStream.range(0, KnownLeak.MOST)
            .mapToObj(
                i -> new KnownLeak("%016x".formatted(i), Recordings.START, LeakEvidence.OUTLASTED))
            .toList();
    sites = Optional.of(summary(12, 30, MIB));
    start();

    assertThat(lastMinute().text().table("site")).hasSize(20);
    endRun();
    start();
    assertThat(recorder.takeKnownLeaks()).isEqualTo(leaks);
  }

  @Test
  void linesThatAreNoLeakArePassedOver() {
    MemoryText text =
        MemoryText.parse(
            "known-leak\n"
                + "known-leak\t0123456789abcdef\n"
                + "known-leak\t0123456789abcdeX\t2026-01-01T12:00:00Z\tlost\n"
                + "known-leak\t0123456789abcdef\tyesterday\tlost\n"
                + "known-leak\t0123456789abcdef\t2026-01-01T12:00:00Z\tknown\n"
                + "known-leak\t0123456789abcdef\t2026-01-01T12:00:00Z\tlost\tand more\n"
                + "known-leaks\t0123456789abcdef\t2026-01-01T12:00:00Z\tlost\n");

    assertThat(MemoryLines.knownLeaks(text)).isEqualTo(KNOWN.subList(0, 1));
  }

  @Test
  void aFileWithoutLeaksOrThatIsTornTellsNone() throws Exception {
    Recordings.grownToTheLimit(path);
    start();
    assertThat(recorder.takeKnownLeaks()).isEmpty();

    leaks = KNOWN;
    observeFor(Duration.ofMinutes(2), 100);
    endRun();
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      for (int at = RecordingFormat.HEADER_BYTES; at < file.length(); at += 100) {
        file.seek(at);
        file.write(0x5a);
      }
    }
    start();
    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.ON);
    assertThat(recorder.takeKnownLeaks()).isEmpty();
  }

  /** Ends this run and prepares the next one, as in a new process. */
  private void endRun() {
    recorder.close();
    library = new Library();
    recorder = recorder();
  }

  @Test
  void closingAndOpeningAgainGoesOnInTheSameFile() throws Exception {
    start();
    long life = recorder.recording().life();
    recorder.close();
    assertThat(recorder.recording()).isEqualTo(RecordingStatus.off());
    nanos += 5 * Recordings.SECOND;
    recorder.observe(snapshot(100), leaks);

    assertThat(recorder.recording().life()).isEqualTo(life);
    assertThat(Path.of(path + ".previous")).doesNotExist();
    assertThat(logged.messages()).isEmpty();
  }

  /**
   * A named pipe replaces the previous recording. Nothing is written to the pipe, so a read from it
   * would never return.
   */
  @Test
  @Tag("process")
  void aPipeInThePlaceOfTheLastLifeHoldsNobodyUp() throws Exception {
    Path previous = Path.of(path + ".previous");
    assertThat(new ProcessBuilder("mkfifo", previous.toString()).start().waitFor()).isZero();
    assertTimeoutPreemptively(Duration.ofSeconds(30), this::start);

    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.ON);
    assertThat(logged.messages())
        .singleElement()
        .asString()
        .endsWith(previous + " is not a regular file");
  }

  @Test
  void aRecordThatTheLibraryRefusesEndsTheRecordingWithItsReason() throws Exception {
    start();
    refusal = "the file was truncated, or its file system failed";
    observeFor(Duration.ofMinutes(3), 900);

    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.FAILED);
    assertThat(recorder.recording().reason()).isEqualTo(refusal);
    assertThat(logged.messages()).containsExactly("The recording is off: " + refusal);
  }

  @Test
  void anotherFileInThePlaceOfTheRecordingIsNotTakenForIt() throws Exception {
    library.record(path);
    Recordings.open(path).close();
    start();
    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.FAILED);
    assertThat(recorder.recording().reason()).endsWith("has been replaced by another file");

    endRun();
    library.record(path);
    Files.delete(path);
    start();
    assertThat(recorder.recording().reason()).endsWith("does not exist any more");
  }

  @Test
  void theSecondClassLoaderLeavesTheFileToTheFirst() throws Exception {
    start();
    Recorder second = recorder();
    second.want(path);
    second.observe(snapshot(100), leaks);

    assertThat(second.recording().state()).isEqualTo(RecordingStatus.State.FAILED);
    assertThat(second.recording().reason()).contains("another class loader");
    second.close();
    assertThat(recorder.recording().state()).isEqualTo(RecordingStatus.State.ON);
  }

  private void start() {
    recorder.want(path);
    recorder.observe(snapshot(100), leaks);
  }

  private void observeFor(Duration duration, long chargedMib) {
    for (long second = 0; second < duration.toSeconds(); second += 5) {
      nanos += 5 * Recordings.SECOND;
      recorder.observe(snapshot(chargedMib), leaks);
    }
  }

  private Instant now() {
    return Recordings.START.plusNanos(nanos - Recordings.START_NANOS);
  }

  private Snapshot snapshot(long chargedMib) {
    return snapshot(now(), chargedMib);
  }

  private Snapshot snapshot(Instant time, long chargedMib) {
    long charged = chargedMib * MIB;
    CgroupMemory cgroup =
        new CgroupMemory(
            2,
            charged,
            Map.of(ChargedPart.THIS_PROCESS, charged),
            1000.0 * MIB,
            Double.NaN,
            charged,
            Double.NaN,
            Map.of("oom_kill", 0L),
            Optional.empty());
    ResidentMemory resident =
        new ResidentMemory(
            time, 80 * MIB, Map.of(ResidentPart.JAVA_HEAP, 50 * MIB), 0, 0, false, 10, 0.001);
    return new Snapshot(
        time,
        new Status(State.UNAVAILABLE, "", ""),
        Optional.empty(),
        SelfReport.absent(),
        new ProcessMemory(80.0 * MIB, Optional.of(resident), Optional.of(cgroup), Optional.empty()),
        Optional.empty(),
        List.of(),
        sites,
        Optional.empty(),
        Optional.empty(),
        Diagnosis.none(time),
        Optional.empty());
  }
}
