package io.mallometer.internal.interposer;

import io.mallometer.model.Attachment;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.SelfReport;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * {@code struct mallometer_report} of ABI version {@value Availability#ABI_VERSION}, by byte
 * offset. The header orders fields so that there is no padding; a test compares these offsets with
 * a C compiler's.
 */
final class ReportLayout {

  static final int SIZE = 0;
  static final int STATE = 8;
  static final int BYTES_TO_STATE = 12;
  static final int BYTE_UNIT = 12;
  static final int FOOTPRINT_BYTES = 16;
  static final int OVERHEAD_NS = 24;
  static final int THREADS_WITHOUT_BLOCK = 32;
  static final int HUGE_THRESHOLD_BYTES = 40;
  static final int BUILD = 48;
  static final int BUILD_BYTES = 32;
  static final int ALLOCATOR = BUILD + BUILD_BYTES;
  static final int ALLOCATOR_BYTES = 64;
  static final int REASON = ALLOCATOR + ALLOCATOR_BYTES;
  static final int REASON_BYTES = 160;
  static final int TEXTS_END = REASON + REASON_BYTES;
  static final int SAMPLE_INTERVAL_BYTES = TEXTS_END;
  static final int SAMPLES = SAMPLE_INTERVAL_BYTES + 8;
  static final int SAMPLED_BYTES = SAMPLES + 8;
  static final int SAMPLES_BY_SIZE_ONLY = SAMPLED_BYTES + 8;
  static final int SAMPLES_WITHOUT_SITE = SAMPLES_BY_SIZE_ONLY + 8;
  static final int SAMPLES_NOT_FOLLOWED = SAMPLES_WITHOUT_SITE + 8;
  static final int LIVE_SAMPLES = SAMPLES_NOT_FOLLOWED + 8;
  static final int CALL_SITES = LIVE_SAMPLES + 4;
  static final int SAMPLES_TRUNCATED = CALL_SITES + 4;
  static final int SAMPLES_WITHOUT_JAVA = SAMPLES_TRUNCATED + 8;
  static final int SAMPLING_NS = SAMPLES_WITHOUT_JAVA + 8;
  static final int OVERHEAD_TARGET_PPM = SAMPLING_NS + 8;
  static final int SAMPLING_SHARE_PPM = OVERHEAD_TARGET_PPM + 4;
  static final int METHODS = SAMPLING_SHARE_PPM + 4;
  static final int MODULES = METHODS + 4;
  static final int JAVA = MODULES + 4;
  static final int TABLES_BYTES = JAVA + 8;
  static final int FRAMES_WITHOUT_METHOD = TABLES_BYTES + 8;
  static final int FRAMES_WITHOUT_MODULE = FRAMES_WITHOUT_METHOD + 8;
  static final int SAMPLES_WITHOUT_STACK = FRAMES_WITHOUT_MODULE + 8;
  static final int MODE = SAMPLES_WITHOUT_STACK + 8;
  static final int WORDS = MODE + 4;
  static final int WORDS_REFUSED = WORDS + 4;
  static final int CALLS_UNSEEN = WORDS_REFUSED + 4;
  static final int SINCE_NS = CALLS_UNSEEN + 4;
  static final int ATTACH_LOCK_NS = SINCE_NS + 8;
  static final int DRIFT_BYTES = ATTACH_LOCK_NS + 8;
  static final int DRIFT_BOUND_BYTES = DRIFT_BYTES + 8;
  static final int SLOTS_ADDRESS = DRIFT_BOUND_BYTES + 8;
  static final int SLOTS_RESERVED_BYTES = SLOTS_ADDRESS + 8;
  static final int SLOTS_TAKEN_BYTES = SLOTS_RESERVED_BYTES + 8;
  static final int SLOTS_EXCESS_BYTES = SLOTS_TAKEN_BYTES + 8;
  static final int BYTES = SLOTS_EXCESS_BYTES + 8;

  static final int STATE_COUNTING = 1;
  static final int STATE_DISABLED = 2;
  static final int STATE_NOT_PRELOADED = 3;
  static final int STATE_EXCLUDED = 4;
  static final int STATE_UNSUPPORTED = 5;

  /** MALLOMETER_MODE_ATTACHED. */
  private static final int MODE_ATTACHED = 2;

  private static final double MILLION = 1e6;

  private ReportLayout() {}

  static ByteUnit byteUnit(ByteBuffer struct) {
    return switch (struct.getInt(BYTE_UNIT)) {
      case 1 -> ByteUnit.USABLE;
      case 2 -> ByteUnit.GLIBC_CHUNK;
      case 3 -> ByteUnit.REQUESTED;
      default -> ByteUnit.UNKNOWN;
    };
  }

  /** Whether the library counts since mallometer_attach() was called. */
  static boolean attached(ByteBuffer struct) {
    return struct.getInt(MODE) == MODE_ATTACHED;
  }

  static Optional<Attachment> attachment(ByteBuffer struct) {
    return attached(struct)
        ? Optional.of(
            new Attachment(
                struct.getInt(WORDS),
                struct.getInt(WORDS_REFUSED),
                struct.getInt(CALLS_UNSEEN),
                struct.getLong(ATTACH_LOCK_NS) / 1e9,
                struct.getLong(DRIFT_BYTES),
                struct.getLong(DRIFT_BOUND_BYTES)))
        : Optional.empty();
  }

  static SelfReport.Sampling sampling(ByteBuffer struct) {
    long interval = struct.getLong(SAMPLE_INTERVAL_BYTES);
    int target = struct.getInt(OVERHEAD_TARGET_PPM);
    return interval == 0
        ? SelfReport.Sampling.OFF
        : new SelfReport.Sampling(
            interval,
            struct.getLong(SAMPLES),
            struct.getLong(SAMPLES_WITHOUT_SITE),
            struct.getLong(SAMPLES_NOT_FOLLOWED),
            struct.getLong(SAMPLES_BY_SIZE_ONLY),
            target == 0 ? Double.NaN : target / MILLION,
            struct.getInt(SAMPLING_SHARE_PPM) / MILLION,
            struct.getLong(TABLES_BYTES),
            slots(struct));
  }

  private static SelfReport.SlotPages slots(ByteBuffer struct) {
    return has(struct, BYTES)
        ? new SelfReport.SlotPages(
            struct.getLong(SLOTS_ADDRESS),
            struct.getLong(SLOTS_RESERVED_BYTES),
            struct.getLong(SLOTS_TAKEN_BYTES),
            struct.getLong(SLOTS_EXCESS_BYTES))
        : SelfReport.SlotPages.NONE;
  }

  /** A NUL-terminated text in a field of fixed length. */
  static String text(ByteBuffer struct, int offset, int length) {
    byte[] bytes = new byte[length];
    struct.get(offset, bytes);
    // Not by a loop here, which the JVM would compile for the first thousands of names.
    String text = new String(bytes, StandardCharsets.UTF_8);
    int end = text.indexOf(0);
    return end < 0 ? text : text.substring(0, end);
  }
}
