package io.mallometer.internal.interposer;

import io.mallometer.model.Baseline;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SizeDistribution;
import java.nio.ByteBuffer;

/**
 * {@code struct mallometer_counters} of ABI version {@value Availability#ABI_VERSION}, by byte
 * offset. The header orders fields so that there is no padding; a test compares these offsets with
 * a C compiler's.
 */
final class CountersLayout {

  static final int SIZE = 0;
  static final int MONOTONIC_NS = 8;
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
  static final int SINCE_NS = HUGE_ALLOCATIONS + 8;
  static final int LIVE_BYTES = SINCE_NS + 8;
  static final int BASELINE_BYTES = LIVE_BYTES + 8;
  static final int BASELINE_ERROR_BYTES = BASELINE_BYTES + 8;
  static final int BYTES = BASELINE_ERROR_BYTES + 8;

  /** The flag MALLOMETER_INCOMPLETE. */
  static final int INCOMPLETE = 1;

  /** The flag MALLOMETER_BASELINE_UNKNOWN. */
  static final int BASELINE_UNKNOWN = 2;

  /** MALLOMETER_SINCE_START. */
  static final int SINCE_START = 0;

  private CountersLayout() {}

  /** Decodes the counters of the process. */
  static NativeCounters process(ByteBuffer struct) {
    Baseline baseline = baseline(struct);
    boolean known = complete(struct) && baseline.known();
    long largest = struct.getLong(LARGEST_REQUEST_BYTES);
    return counters(
        struct,
        known ? struct.getLong(PEAK_LIVE_BYTES) : Double.NaN,
        known ? struct.getLong(PEAK_ERROR_BYTES) + baseline.errorBytes() : Double.NaN,
        largest == 0 ? Double.NaN : largest,
        known ? struct.getLong(LIVE_BYTES) : Double.NaN,
        baseline);
  }

  private static double net(ByteBuffer struct) {
    return struct.getLong(ALLOCATED_BYTES) - struct.getLong(FREED_BYTES);
  }

  private static Baseline baseline(ByteBuffer struct) {
    if (struct.getLong(SINCE_NS) == 0) {
      return Baseline.NONE;
    }
    boolean unknown = (struct.getInt(FLAGS) & BASELINE_UNKNOWN) != 0;
    return new Baseline(
        unknown ? Double.NaN : struct.getLong(BASELINE_BYTES),
        struct.getLong(BASELINE_ERROR_BYTES));
  }

  /** Decodes the counters of a thread, which has no peak and no largest request. */
  static NativeCounters thread(ByteBuffer struct) {
    return counters(
        struct,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        complete(struct) ? net(struct) : Double.NaN,
        Baseline.NONE);
  }

  private static NativeCounters counters(
      ByteBuffer struct,
      double peak,
      double peakError,
      double largest,
      double live,
      Baseline baseline) {
    return new NativeCounters(
        sizes(struct),
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
        live,
        baseline,
        complete(struct));
  }

  private static SizeDistribution sizes(ByteBuffer struct) {
    long[] counts = new long[SizeDistribution.CLASSES];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = struct.getLong(ALLOCATIONS + i * Long.BYTES);
    }
    return SizeDistribution.of(counts);
  }

  private static boolean complete(ByteBuffer struct) {
    return (struct.getInt(FLAGS) & INCOMPLETE) == 0;
  }
}
