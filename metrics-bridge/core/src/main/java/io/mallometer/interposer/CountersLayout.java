package io.mallometer.interposer;

import io.mallometer.NativeCounters;
import io.mallometer.SizeDistribution;
import java.nio.ByteBuffer;

/**
 * {@code struct mallometer_counters} of ABI version {@value Availability#ABI_VERSION}, by byte
 * offset. The header orders fields so that there is no padding; a test compares these offsets with
 * a C compiler's.
 */
final class CountersLayout {

  static final int SIZE = 0;
  static final int FLAGS = 16;
  static final int THREADS = 20;
  static final int ALLOCATIONS = 24;
  static final int FREES = ALLOCATIONS + SizeDistribution.CLASSES * Long.BYTES;
  static final int FAILED = FREES + 8;
  static final int REQUESTED_BYTES = FAILED + 8;
  static final int ALLOCATED_BYTES = REQUESTED_BYTES + 8;
  static final int FREED_BYTES = ALLOCATED_BYTES + 8;
  static final int PEAK_LIVE_BYTES = FREED_BYTES + 8;
  static final int PEAK_ERROR_BYTES = PEAK_LIVE_BYTES + 8;
  static final int LARGEST_REQUEST_BYTES = PEAK_ERROR_BYTES + 8;
  static final int HUGE_ALLOCATIONS = LARGEST_REQUEST_BYTES + 8;
  static final int BYTES = HUGE_ALLOCATIONS + 8;

  /** The flag MALLOMETER_INCOMPLETE. */
  static final int INCOMPLETE = 1;

  /** MALLOMETER_SINCE_START. */
  static final int SINCE_START = 0;

  private CountersLayout() {}

  /** Decodes the counters of the process. */
  static NativeCounters process(ByteBuffer struct) {
    boolean complete = complete(struct);
    long largest = struct.getLong(LARGEST_REQUEST_BYTES);
    return counters(
        struct,
        complete ? struct.getLong(PEAK_LIVE_BYTES) : Double.NaN,
        complete ? struct.getLong(PEAK_ERROR_BYTES) : Double.NaN,
        largest == 0 ? Double.NaN : largest);
  }

  /** Decodes the counters of a thread, which has no peak and no largest request. */
  static NativeCounters thread(ByteBuffer struct) {
    return counters(struct, Double.NaN, Double.NaN, Double.NaN);
  }

  private static NativeCounters counters(
      ByteBuffer struct, double peak, double peakError, double largest) {
    return new NativeCounters(
        SizeDistribution.of(i -> struct.getLong(ALLOCATIONS + i * Long.BYTES)),
        struct.getLong(FREES),
        struct.getLong(FAILED),
        struct.getLong(REQUESTED_BYTES),
        struct.getLong(ALLOCATED_BYTES),
        struct.getLong(FREED_BYTES),
        peak,
        peakError,
        largest,
        struct.getLong(HUGE_ALLOCATIONS),
        struct.getInt(THREADS),
        complete(struct));
  }

  private static boolean complete(ByteBuffer struct) {
    return (struct.getInt(FLAGS) & INCOMPLETE) == 0;
  }
}
