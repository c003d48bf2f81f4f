package io.mallometer.internal.history;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;

/** Black boxes as the library would have written them, with known contents. */
public final class Boxes {

  static final Instant START = Instant.parse("2026-01-01T12:00:00Z");
  static final long SECOND = 1_000_000_000L;
  static final double GIB = 1L << 30;

  /** Of the clock that nobody sets, at {@link #START}. */
  static final long START_NANOS = 77 * SECOND;

  private Boxes() {}

  /** A header by the library, of a process that started at {@link #START}. */
  static ByteBuffer header() {
    ByteBuffer header =
        BoxHeader.ofThisProcess(Clock.fixed(START, java.time.ZoneOffset.UTC), () -> START_NANOS);
    header.putInt(BoxFormat.HEADER_FLAGS, BoxFormat.BY_LIBRARY);
    header.putInt(BoxFormat.HEADER_PID, 4711);
    BoxFormat.putText(header, BoxFormat.HEADER_ALLOCATOR, BoxFormat.ALLOCATOR_BYTES, "glibc 2.36");
    return seal(header);
  }

  /** Renews the checksum after a change. */
  static ByteBuffer seal(ByteBuffer header) {
    return header.putInt(
        BoxFormat.HEADER_CHECKSUM, BoxFormat.checksum(header, 0, BoxFormat.HEADER_CHECKSUM));
  }

  /** An open file with nothing but a header. */
  static BoxFile open(Path file) throws IOException {
    return BoxFile.create(file, header());
  }

  /** Writes a sample into a ring. */
  static void sample(BoxFile file, int ring, double second, ByteBuffer sample) throws IOException {
    long nanos = (long) (second * SECOND);
    file.writeSample(ring, START.plusNanos(nanos), START_NANOS + nanos, sample);
  }

  /** A sample of known figures, in bytes. */
  static ByteBuffer figures(double live, double resident, double charged, double limit) {
    ByteBuffer sample = BoxFormat.buffer(BoxFormat.SAMPLE_BYTES);
    sample.putInt(BoxFormat.KIND, BoxFormat.RECORD_SAMPLE);
    sample.putLong(BoxFormat.ALLOCATIONS, 10);
    sample.putLong(BoxFormat.FREES, 4);
    sample.putLong(BoxFormat.ALLOCATED_BYTES, (long) live + 1000);
    sample.putLong(BoxFormat.FREED_BYTES, 1000);
    sample.putLong(BoxFormat.RESIDENT_BYTES, (long) resident);
    sample.putLong(BoxFormat.CHARGED_BYTES, (long) charged);
    sample.putLong(BoxFormat.LIMIT_BYTES, Double.isNaN(limit) ? BoxFormat.UNKNOWN : (long) limit);
    sample.putLong(BoxFormat.CACHED_FILE_BYTES, BoxFormat.UNKNOWN);
    return sample;
  }

  /** A process that grew for 40 minutes until it was near its limit, and said nothing. */
  public static Path grownToTheLimit(Path path) throws IOException {
    try (BoxFile file = open(path)) {
      for (int minute = 0; minute <= 40; minute++) {
        double live = (0.5 + 1.4 * minute / 40) * GIB;
        sample(file, 2, minute * 60, figures(live, live, live + 0.09 * GIB, 2 * GIB));
      }
    }
    return path;
  }
}
