package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/** Black boxes of other versions: what both know is read, what is appended is passed over. */
class OtherVersionsBoxTest {

  private static final Path PREVIOUS = Path.of("../../interposer/test/previous/box.gz");

  @Test
  void theVersionBeforeIsRead() throws Exception {
    RecordedLife life = RecordedLife.parse(previous());

    assertThat(life.header().build()).isEqualTo("0.1.0-SNAPSHOT");
    assertThat(life.header().executable()).isEqualTo("previous_run");
    assertThat(life.header().byLibrary()).isTrue();
    assertThat(life.exitCode()).isEqualTo(7);
    assertThat(life.exit()).isPresent();
    assertThat(life.samples()).hasSizeBetween(3, 5);
    assertThat(life.last().liveBytes()).isBetween(50e6, 51e6);
    assertThat(life.last().liveObjects()).isBetween(500.0, 600.0);
    assertThat(life.tornRecords()).isZero();
  }

  /** Of the next version: samples of 192 bytes in slots of 256. The file is otherwise the same. */
  @Test
  void longerRecordsAreReadAsFarAsTheyAreKnown() throws Exception {
    byte[] bytes = previous();
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer known = file.slice(12_288, BoxFormat.SAMPLE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    byte[] record = new byte[192];
    known.get(0, record, 0, BoxFormat.SAMPLE_BYTES);
    ByteBuffer longer = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    longer.putInt(BoxFormat.LENGTH, record.length);
    for (int at = BoxFormat.SAMPLE_BYTES; at < record.length; at++) {
      record[at] = (byte) 0x7e;
    }
    longer.putInt(BoxFormat.CHECKSUM, BoxFormat.checksum(longer, BoxFormat.LENGTH, record.length));
    long nanos = longer.getLong(BoxFormat.MONOTONIC);
    new BoxRegion(BoxFormat.SAMPLES, 256, 1_900_000, 4, 1_000_000_000L)
        .write(file, BoxFormat.HEADER_REGIONS);
    file.put(1_900_000, record);
    Boxes.seal(file);

    RecordedLife life = RecordedLife.parse(bytes);

    Sample sample =
        life.samples().stream()
            .filter(one -> one.monotonicNanos() == nanos)
            .findFirst()
            .orElseThrow();
    assertThat(sample.allocatedBytes()).isEqualTo(known.getLong(BoxFormat.ALLOCATED_BYTES));
    assertThat(sample.residentBytes()).isEqualTo(known.getLong(BoxFormat.RESIDENT_BYTES));
    assertThat(life.tornRecords()).isZero();
  }

  private static byte[] previous() throws Exception {
    try (InputStream file = new GZIPInputStream(Files.newInputStream(PREVIOUS))) {
      return file.readAllBytes();
    }
  }
}
