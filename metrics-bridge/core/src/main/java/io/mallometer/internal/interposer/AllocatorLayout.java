package io.mallometer.internal.interposer;

import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code struct mallometer_allocator_state} and {@code struct mallometer_arena} of ABI version
 * {@value Availability#ABI_VERSION}, by byte offset. The header orders fields so that there is no
 * padding; a test compares these offsets with a C compiler's.
 */
final class AllocatorLayout {

  static final int SIZE = 0;
  static final int KIND = 8;
  static final int ROWS = 12;
  static final int ARENAS = 16;
  static final int SYSTEM_BYTES = 24;
  static final int USED_BYTES = 32;
  static final int RETAINED_BYTES = 40;
  static final int MAPPED_BYTES = 48;
  static final int RELEASABLE_BYTES = 56;
  static final int RESIDENT_BYTES = 64;
  static final int TRIMS = 72;
  static final int BYTES = TRIMS + 8;

  static final int ROW_NUMBER = 0;
  static final int ROW_SYSTEM_BYTES = 8;
  static final int ROW_RETAINED_BYTES = 16;
  static final int ROW_RELEASABLE_BYTES = 24;
  static final int ROW_TOP_BYTES = 32;
  static final int ROW_BYTES = ROW_TOP_BYTES + 8;

  /** MALLOMETER_UNKNOWN. */
  static final long UNKNOWN = -1;

  private AllocatorLayout() {}

  /** Decodes both; what a trim would give back is not in them. */
  static AllocatorStatistics statistics(
      ByteBuffer state, ByteBuffer rows, Instant time, double costSeconds) {
    return new AllocatorStatistics(
        time,
        kind(state.getInt(KIND)),
        known(state.getLong(ARENAS)),
        known(state.getLong(SYSTEM_BYTES)),
        known(state.getLong(USED_BYTES)),
        known(state.getLong(RETAINED_BYTES)),
        known(state.getLong(MAPPED_BYTES)),
        known(state.getLong(RELEASABLE_BYTES)),
        known(state.getLong(RESIDENT_BYTES)),
        Double.NaN,
        state.getLong(TRIMS),
        arenas(rows, state.getInt(ROWS)),
        List.of(),
        costSeconds);
  }

  static AllocatorKind kind(int number) {
    return switch (number) {
      case 1 -> AllocatorKind.GLIBC;
      case 2 -> AllocatorKind.JEMALLOC;
      case 3 -> AllocatorKind.TCMALLOC;
      case 4 -> AllocatorKind.MIMALLOC;
      default -> AllocatorKind.UNKNOWN;
    };
  }

  private static List<AllocatorStatistics.Arena> arenas(ByteBuffer rows, int count) {
    List<AllocatorStatistics.Arena> arenas = new ArrayList<>(count);
    for (int row = 0; row < count * ROW_BYTES; row += ROW_BYTES) {
      long system = rows.getLong(row + ROW_SYSTEM_BYTES);
      long retained = rows.getLong(row + ROW_RETAINED_BYTES);
      arenas.add(
          new AllocatorStatistics.Arena(
              rows.getLong(row + ROW_NUMBER),
              system,
              system - retained,
              retained,
              rows.getLong(row + ROW_RELEASABLE_BYTES),
              rows.getLong(row + ROW_TOP_BYTES)));
    }
    return arenas;
  }

  private static double known(long value) {
    return value == UNKNOWN ? Double.NaN : value;
  }
}
