package io.mallometer.internal.history;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * The recording's file, byte by byte, as {@code recording_format.h} has it. A test compares the
 * two.
 */
final class RecordingFormat {

  static final byte[] MAGIC = "mallometer-rec\n\0".getBytes(StandardCharsets.US_ASCII);
  static final int FORMAT = 2;
  static final int FILE_BYTES = 2 << 20;

  /** Samples of the counters. */
  static final int SAMPLES = 1;

  /** How the process ended, by the library. */
  static final int EXIT = 2;

  /** Stands in the place of an exit status where the C library does not tell it: musl. */
  static final int STATUS_NOT_TOLD = Integer.MIN_VALUE;

  /** The beginning of Java's shutdown. */
  static final int SHUTDOWN = 3;

  /** The JVM. */
  static final int JVM = 4;

  /** Where the memory was, each minute. */
  static final int MINUTES = 5;

  /** The same when a share of the limit was crossed. */
  static final int CROSSINGS = 6;

  /** Call sites at the peak and at the last crossings. */
  static final int PROFILES = 7;

  // The header.
  static final int HEADER_FORMAT = 16;
  static final int HEADER_LENGTH = 20;
  static final int HEADER_FILE_BYTES = 24;
  static final int HEADER_LIFE = 32;
  static final int HEADER_STARTED_REALTIME = 40;
  static final int HEADER_STARTED_MONOTONIC = 48;
  static final int HEADER_PID = 56;
  static final int HEADER_START_TICKS = 64;
  static final int HEADER_BYTE_UNIT = 72;
  static final int HEADER_REGIONS_USED = 76;
  static final int HEADER_CGROUP_INODE = 80;
  static final int HEADER_BOOT_ID = 88;
  static final int BOOT_ID_BYTES = 40;
  static final int HEADER_BUILD = HEADER_BOOT_ID + BOOT_ID_BYTES;
  static final int BUILD_BYTES = 32;
  static final int HEADER_ALLOCATOR = HEADER_BUILD + BUILD_BYTES;
  static final int ALLOCATOR_BYTES = 64;
  static final int HEADER_EXECUTABLE = HEADER_ALLOCATOR + ALLOCATOR_BYTES;
  static final int EXECUTABLE_BYTES = 64;
  static final int HEADER_CGROUP = HEADER_EXECUTABLE + EXECUTABLE_BYTES;
  static final int CGROUP_BYTES = 256;
  static final int HEADER_REGIONS = HEADER_CGROUP + CGROUP_BYTES;
  static final int REGIONS = 12;
  static final int REGION_BYTES = 32;
  static final int HEADER_CHECKSUM = HEADER_REGIONS + REGIONS * REGION_BYTES + 4;
  static final int HEADER_BYTES = HEADER_CHECKSUM + 4;

  // The frame of each record.
  static final int CHECKSUM = 0;
  static final int LENGTH = 4;
  static final int SEQUENCE = 8;
  static final int REALTIME = 16;
  static final int MONOTONIC = 24;
  static final int KIND = 32;
  static final int FLAGS = 36;
  static final int FRAME_BYTES = 40;

  // A sample.
  static final int ALLOCATIONS = 40;
  static final int FREES = 48;
  static final int REQUESTED_BYTES = 56;
  static final int ALLOCATED_BYTES = 64;
  static final int FREED_BYTES = 72;
  static final int FAILED = 80;
  static final int THREADS = 84;
  static final int RESIDENT_BYTES = 88;
  static final int CHARGED_BYTES = 96;
  static final int LIMIT_BYTES = 104;
  static final int CACHED_FILE_BYTES = 112;
  static final int OOM_KILLS = 120;
  static final int SAMPLE_BYTES = 128;

  /** A sample's flag: live bytes are unknown. */
  static final int INCOMPLETE = 1;

  /** A figure that is not known. */
  static final long UNKNOWN = -1;

  /** Kinds of records. */
  static final int RECORD_SAMPLE = 1;

  static final int RECORD_SHUTDOWN = 3;
  static final int RECORD_TEXT = 4;

  /** A profile; its flags are the percent of the limit that were crossed, 0 at the peak. */
  static final int RECORD_PROFILE = 5;

  private RecordingFormat() {}

  /** The regions of the files that the library makes. */
  static final RecordingRegion[] LAYOUT = {
    new RecordingRegion(SAMPLES, SAMPLE_BYTES, 12_288, 600, 1_000_000_000L),
    new RecordingRegion(SAMPLES, SAMPLE_BYTES, 90_112, 360, 10_000_000_000L),
    new RecordingRegion(SAMPLES, SAMPLE_BYTES, 139_264, 1_440, 60_000_000_000L),
    new RecordingRegion(EXIT, SAMPLE_BYTES, 4_096, 1, 0),
    new RecordingRegion(SHUTDOWN, 128, 8_192, 1, 0),
    new RecordingRegion(JVM, 16_384, 323_584, 1, 0),
    new RecordingRegion(MINUTES, 16_384, 339_968, 60, 60_000_000_000L),
    new RecordingRegion(CROSSINGS, 16_384, 1_323_008, 24, 0),
    new RecordingRegion(PROFILES, 73_728, 1_716_224, 5, 0),
  };

  /** Memory for a record, in the file's byte order. */
  static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The checksum of a range of bytes. */
  static int checksum(ByteBuffer bytes, int from, int to) {
    CRC32 checksum = new CRC32();
    checksum.update(bytes.array(), bytes.arrayOffset() + from, to - from);
    return (int) checksum.getValue();
  }

  static boolean hasMagic(ByteBuffer file) {
    return file.capacity() >= MAGIC.length
        && Arrays.equals(
            file.array(),
            file.arrayOffset(),
            file.arrayOffset() + MAGIC.length,
            MAGIC,
            0,
            MAGIC.length);
  }

  /** A text that ends at its field's end or at a zero. */
  static String text(ByteBuffer bytes, int offset, int length) {
    int end = 0;
    while (end < length && bytes.get(offset + end) != 0) {
      end++;
    }
    return new String(bytes.array(), bytes.arrayOffset() + offset, end, StandardCharsets.UTF_8);
  }
}
