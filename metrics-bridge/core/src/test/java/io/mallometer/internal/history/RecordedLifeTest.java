package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the reading of files that are complete, torn, truncated or no recordings. */
@Tag("any-jdk")
class RecordedLifeTest {

  @TempDir private Path directory;
  private byte[] whole = {};

  @BeforeEach
  void write() throws IOException {
    Path path = directory.resolve("recording");
    try (RecordingFile file = Recordings.open(path)) {
      for (int second = 0; second < 700; second++) {
        Recordings.sample(file, 0, second, Recordings.figures(second, 2e6, 4e6, 1e9));
        if (second % 10 == 0) {
          Recordings.sample(file, 1, second, Recordings.figures(second, 2e6, 4e6, 1e9));
        }
      }
      for (int minute = 0; minute < 70; minute++) {
        MemoryText text = new MemoryText().line("part", "java_heap", minute).line("verdict", "x");
        file.write(
            RecordingFormat.MINUTES,
            Recordings.START.plusSeconds(minute * 60L),
            Recordings.START_NANOS + minute * 60 * Recordings.SECOND,
            text);
      }
    }
    whole = Files.readAllBytes(path);
  }

  @Test
  void aRingHoldsItsLatestRecordsInOrder() throws Exception {
    RecordedLife life = RecordedLife.parse(whole);

    assertThat(life.header().pid()).isEqualTo(4711);
    assertThat(life.header().library().allocator()).isEqualTo("glibc 2.36");
    assertThat(life.last().malloc().liveBytes()).isEqualTo(699);
    assertThat(life.duration()).isEqualTo(Duration.ofSeconds(699));
    // 600 samples are a second apart. Ten older ones are 10 s apart.
    assertThat(life.samples())
        .hasSize(610)
        .isSortedAccordingTo((a, b) -> Long.compare(a.monotonicNanos(), b.monotonicNanos()));
    assertThat(life.parts().minutes()).hasSize(60);
    assertThat(life.parts().minutes().get(0).text().table("part")).containsEntry("java_heap", 10L);
    assertThat(life.damage().tornRecords()).isZero();
  }

  /** The program freed 800 of the 1,000 bytes that it had at the attach. */
  @Test
  void afterAnAttachJavaTellsWhatWasInUseBefore() throws Exception {
    Path path = directory.resolve("attached");
    try (RecordingFile file = Recordings.open(path)) {
      for (int second = 0; second < 100; second++) {
        ByteBuffer sample = Recordings.figures(second - 800, 2e6, 4e6, 1e9);
        sample.putInt(RecordingFormat.SAMPLE_FLAGS, RecordingFormat.INCOMPLETE);
        Recordings.sample(file, 0, second, sample);
      }
      assertThat(RecordedLife.read(path).last().malloc().liveBytes()).isNaN();

      file.write(
          RecordingFormat.MINUTES,
          Recordings.START.plusSeconds(50),
          Recordings.START_NANOS + 50 * Recordings.SECOND,
          new MemoryText()
              .line("mode", "attached")
              .line("since", Recordings.START)
              .line("baseline", "1000 B ± 8 B were allocated before the attach")
              .line(MemoryText.BEFORE, 1000));
    }
    RecordedLife life = RecordedLife.read(path);
    assertThat(life.last().malloc().liveBytes()).isEqualTo(299);
    assertThat(life.samples()).allMatch(sample -> sample.malloc().liveBytes() >= 200);
    assertThat(RecordingReport.of(life, ExitDiagnosisTest.NOTHING_MORE))
        .containsPattern(
            "attached   \\d\\d:\\d\\d:\\d\\d; 1000 B ± 8 B were allocated before the attach");
  }

  @Test
  void aTornRecordIsLeftOutAndCounted() throws Exception {
    RecordingRegion seconds = Recordings.LAYOUT[0];
    int slotOf700 = (int) seconds.offset() + 99 * seconds.slotBytes();
    whole[slotOf700 + RecordingFormat.SAMPLE_FREED_BYTES] ^= 1;
    RecordedLife life = RecordedLife.parse(whole);

    assertThat(life.damage().tornRecords()).isEqualTo(1);
    assertThat(life.last().malloc().liveBytes()).isEqualTo(698);
    assertThat(RecordingReport.of(life, ExitDiagnosisTest.NOTHING_MORE))
        .contains("1 record was torn and is left out.");
  }

  @Test
  void whatIsLeftOfATruncatedFileIsRead() throws Exception {
    RecordedLife life = RecordedLife.parse(Arrays.copyOf(whole, 100_000));

    assertThat(life.damage().truncated()).isTrue();
    assertThat(life.samples()).hasSizeGreaterThan(600);
    assertThat(life.parts().minutes()).isEmpty();
    assertThat(RecordingReport.of(life, ExitDiagnosisTest.NOTHING_MORE)).contains("was truncated");
  }

  @Test
  void aJavaThatFellSilentIsSaid() throws Exception {
    Path path = directory.resolve("silent");
    try (RecordingFile file = Recordings.open(path)) {
      file.write(
          RecordingFormat.MINUTES,
          Recordings.START,
          Recordings.START_NANOS,
          new MemoryText().line("state", "x"));
      Recordings.sample(file, 0, 300, Recordings.figures(1e6, 2e6, 4e6, 1e9));
    }
    assertThat(RecordingReport.of(path)).contains("Java wrote nothing in its last 5 min");
    assertThat(RecordingReport.of(RecordedLife.parse(whole), ExitDiagnosisTest.NOTHING_MORE))
        .doesNotContain("Java wrote nothing");
  }

  @Test
  void whatIsNoRecordingIsSaidInOneLine() {
    refused(new byte[0], "the file is empty");
    refused("the grocery list".getBytes(StandardCharsets.UTF_8), "not a recording");
    refused(new byte[2 << 20], "not a recording");
    refused(Arrays.copyOf(whole, 16), "the header is torn");
    refused(Arrays.copyOf(whole, 500), "the header is torn");
    byte[] flipped = whole.clone();
    flipped[100] ^= 1;
    refused(flipped, "the header is torn");
  }

  @Test
  void anotherVersionIsNamed() {
    ByteBuffer header = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(RecordingFormat.HEADER_FORMAT, 1);

    refused(
        whole, "written in format 1 by another version of mallometer; this version reads format 3");
  }

  /**
   * The checksum is computed after the header was changed, so it does not reveal the invalid
   * values.
   */
  @Test
  void nonsenseInTheHeaderIsNeverUsedAsAPlaceOrASize() throws Exception {
    Random random = new Random(1);
    for (int round = 0; round < 1_000; round++) {
      byte[] garbled = Arrays.copyOf(whole, 1 + random.nextInt(16_384));
      ByteBuffer file = ByteBuffer.wrap(garbled).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < 5 && garbled.length >= RecordingFormat.HEADER_BYTES; i++) {
        int at = RecordingFormat.HEADER_PID + random.nextInt(RecordingFormat.HEADER_CHECKSUM - 60);
        file.put(at, (byte) (random.nextBoolean() ? -1 : random.nextInt()));
      }
      if (garbled.length >= RecordingFormat.HEADER_BYTES) {
        Recordings.seal(file);
      }
      readable(garbled);
    }
  }

  @Test
  void garbledRecordsNeverEscape() throws Exception {
    Random random = new Random(2);
    for (int round = 0; round < 40; round++) {
      byte[] garbled = whole.clone();
      for (int i = 0; i < 2_000; i++) {
        garbled[
                RecordingFormat.HEADER_BYTES
                    + random.nextInt(garbled.length - RecordingFormat.HEADER_BYTES)] =
            (byte) random.nextInt();
      }
      readable(garbled);
    }
  }

  @Test
  void wholeRecordsOfNonsenseNeverEscape() throws Exception {
    Random random = new Random(3);
    Path path = directory.resolve("nonsense");
    try (RecordingFile file = Recordings.open(path)) {
      for (int i = 0; i < 400; i++) {
        ByteBuffer sample = RecordingFile.buffer(RecordingFormat.SAMPLE_BYTES);
        random.nextBytes(sample.array());
        file.write(
            i % 5 == 0 ? 3 : i % 3,
            java.time.Instant.ofEpochSecond(random.nextInt()),
            random.nextLong(),
            sample);
        byte[] text = new byte[random.nextInt(200)];
        random.nextBytes(text);
        String line = new String(text, StandardCharsets.ISO_8859_1);
        file.write(
            i % 2 == 0 ? RecordingFormat.MINUTES : RecordingFormat.EXCEEDED,
            Recordings.START,
            random.nextLong(),
            new MemoryText().line("part", line, random.nextLong()).line("budget", line, line));
      }
    }
    readable(Files.readAllBytes(path));
    assertThat(RecordingReport.of(path)).isNotEmpty();
  }

  /** A terminal that shows the report must not obey control characters in the file. */
  @Test
  void controlCharactersDoNotReachTheTerminal() throws Exception {
    Path path = directory.resolve("escape");
    try (RecordingFile file = Recordings.open(path)) {
      Recordings.sample(file, 0, 1, Recordings.figures(1e6, 2e6, 4e6, 1e9));
      file.write(
          RecordingFormat.JVM,
          Recordings.START,
          0,
          MemoryText.parse("vm-name\t\u001b]0;owned\u0007\u009b31m\nvm-version\t17"));
    }
    assertThat(RecordingReport.of(path))
        .contains("]0;owned")
        .doesNotContainPattern("[\u001b\u009b]");
  }

  private static void readable(byte[] bytes) throws IOException {
    try {
      RecordedLife life = RecordedLife.parse(bytes);
      assertThat(RecordingReport.of(life, ExitDiagnosisTest.NOTHING_MORE)).isNotEmpty();
    } catch (UnreadableRecordingException e) {
      assertThat(e.getMessage()).doesNotContain("\n");
    }
  }

  private static void refused(byte[] bytes, String message) {
    assertThatExceptionOfType(UnreadableRecordingException.class)
        .isThrownBy(() -> RecordedLife.parse(bytes))
        .withMessageContaining(message);
  }
}
