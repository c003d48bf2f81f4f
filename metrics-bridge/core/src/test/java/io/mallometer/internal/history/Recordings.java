package io.mallometer.internal.history;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Arrays;

public final class Recordings {

  static final Instant START = Instant.parse("2026-01-01T12:00:00Z");
  static final long SECOND = 1_000_000_000L;
  static final double GIB = 1L << 30;

  /** The monotonic clock in nanoseconds at {@link #START}. */
  static final long START_NANOS = 77 * SECOND;

  private static long lives;

  /** The regions of a recording, as the library lays them out. */
  static final RecordingRegion[] LAYOUT = {
    new RecordingRegion(
        RecordingFormat.SAMPLES, RecordingFormat.SAMPLE_BYTES, 12_288, 600, 1_000_000_000L),
    new RecordingRegion(
        RecordingFormat.SAMPLES, RecordingFormat.SAMPLE_BYTES, 90_112, 360, 10_000_000_000L),
    new RecordingRegion(
        RecordingFormat.SAMPLES, RecordingFormat.SAMPLE_BYTES, 139_264, 1_440, 60_000_000_000L),
    new RecordingRegion(RecordingFormat.EXIT, RecordingFormat.SAMPLE_BYTES, 4_096, 1, 0),
    new RecordingRegion(RecordingFormat.SHUTDOWN, 128, 8_192, 1, 0),
    new RecordingRegion(RecordingFormat.JVM, RecordingFormat.DOCUMENT_BYTES, 323_584, 1, 0),
    new RecordingRegion(
        RecordingFormat.MINUTES, RecordingFormat.DOCUMENT_BYTES, 339_968, 60, 60_000_000_000L),
    new RecordingRegion(RecordingFormat.EXCEEDED, RecordingFormat.DOCUMENT_BYTES, 1_323_008, 24, 0),
    new RecordingRegion(RecordingFormat.PROFILES, RecordingFormat.PROFILE_BYTES, 1_716_224, 5, 0),
    new RecordingRegion(RecordingFormat.BURST, RecordingFormat.BURST_SLOT_BYTES, 2_064_384, 2, 0),
    new RecordingRegion(RecordingFormat.NAMES, RecordingFormat.NAMES_SLOT_BYTES, 2_072_576, 2, 0),
  };

  private Recordings() {}

  static ByteBuffer header() {
    ByteBuffer header = RecordingFile.buffer(RecordingFormat.HEADER_BYTES);
    header.put(0, RecordingBytes.MAGIC);
    header.putInt(RecordingFormat.HEADER_FORMAT, RecordingFormat.FORMAT);
    header.putInt(RecordingFormat.HEADER_HEADER_BYTES, RecordingFormat.HEADER_BYTES);
    header.putLong(RecordingFormat.HEADER_FILE_BYTES, RecordingFormat.FILE_BYTES);
    header.putLong(RecordingFormat.HEADER_LIFE, ++lives);
    header.putLong(RecordingFormat.HEADER_STARTED_REALTIME_NS, RecordingFile.realtimeNanos(START));
    header.putLong(RecordingFormat.HEADER_STARTED_MONOTONIC_NS, START_NANOS);
    header.putInt(RecordingFormat.HEADER_REGIONS_USED, LAYOUT.length);
    putText(header, RecordingFormat.HEADER_EXECUTABLE, "java");
    for (int i = 0; i < LAYOUT.length; i++) {
      write(LAYOUT[i], header, RecordingFormat.HEADER_REGIONS + i * RecordingFormat.REGION_BYTES);
    }
    header.putInt(RecordingFormat.HEADER_PID, 4711);
    putText(header, RecordingFormat.HEADER_ALLOCATOR, "glibc 2.36");
    return seal(header);
  }

  static ByteBuffer seal(ByteBuffer header) {
    return header.putInt(
        RecordingFormat.HEADER_CHECKSUM,
        RecordingBytes.checksum(header, 0, RecordingFormat.HEADER_CHECKSUM));
  }

  /** Creates a file that has only a header. An existing file becomes the previous recording. */
  static RecordingFile open(Path file) throws IOException {
    ByteBuffer header = header();
    byte[] whole = Arrays.copyOf(header.array(), RecordingFormat.FILE_BYTES);
    if (Files.exists(file)) {
      Files.move(file, Path.of(file + ".previous"), StandardCopyOption.REPLACE_EXISTING);
    }
    Files.write(file, whole);
    return new RecordingFile(file, header.getLong(RecordingFormat.HEADER_LIFE));
  }

  private static void putText(ByteBuffer header, int offset, String text) {
    header.put(offset, text.getBytes(StandardCharsets.UTF_8));
  }

  static void write(RecordingRegion region, ByteBuffer bytes, int at) {
    bytes.putInt(at, region.kind());
    bytes.putInt(at + 4, region.slotBytes());
    bytes.putLong(at + 8, region.offset());
    bytes.putInt(at + 16, region.slots());
    bytes.putLong(at + 24, region.intervalNanos());
  }

  /** Writes a sample. The samples of ring 0, 1 and 2 are 1, 10 and 60 s apart. */
  static void sample(RecordingFile file, int ring, double second, ByteBuffer sample)
      throws IOException {
    long nanos = (long) (second * SECOND);
    file.write(ring, START.plusNanos(nanos), START_NANOS + nanos, sample);
  }

  static ByteBuffer figures(double live, double resident, double charged, double limit) {
    ByteBuffer sample = RecordingFile.buffer(RecordingFormat.SAMPLE_BYTES);
    sample.putInt(RecordingFormat.SAMPLE_KIND, RecordingFormat.RECORD_SAMPLE);
    sample.putLong(RecordingFormat.SAMPLE_ALLOCATIONS, 10);
    sample.putLong(RecordingFormat.SAMPLE_FREES, 4);
    sample.putLong(RecordingFormat.SAMPLE_ALLOCATED_BYTES, (long) live + 1000);
    sample.putLong(RecordingFormat.SAMPLE_FREED_BYTES, 1000);
    sample.putLong(RecordingFormat.SAMPLE_RESIDENT_BYTES, (long) resident);
    sample.putLong(RecordingFormat.SAMPLE_CHARGED_BYTES, (long) charged);
    sample.putLong(
        RecordingFormat.SAMPLE_LIMIT_BYTES,
        Double.isNaN(limit) ? RecordingFormat.UNKNOWN : (long) limit);
    sample.putLong(RecordingFormat.SAMPLE_FILE_BYTES, RecordingFormat.UNKNOWN);
    return sample;
  }

  /**
   * Writes the recording of a process that grew for 40 minutes almost to its limit. It has no exit
   * record.
   */
  public static Path grownToTheLimit(Path path) throws IOException {
    try (RecordingFile file = open(path)) {
      for (int minute = 0; minute <= 40; minute++) {
        double live = (0.5 + 1.4 * minute / 40) * GIB;
        sample(file, 2, minute * 60, figures(live, live, live + 0.09 * GIB, 2 * GIB));
      }
    }
    return path;
  }
}
