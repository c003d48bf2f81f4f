package io.mallometer.internal.interposer;

import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.ScopeMatches;
import io.mallometer.model.SizeDistribution;
import java.nio.ByteBuffer;
import java.util.Optional;

/** {@code struct mallometer_scope}, by byte offset. */
final class ScopeLayout {

  static final int SIZE = 0;
  static final int FLAGS = 8;
  static final int ALLOCATIONS = 16;
  static final int FREES = ALLOCATIONS + SizeDistribution.CLASSES * Long.BYTES;
  static final int FAILED = FREES + 8;
  static final int REQUESTED_BYTES = FAILED + 8;
  static final int ALLOCATED_BYTES = REQUESTED_BYTES + 8;
  static final int FREED_BYTES = ALLOCATED_BYTES + 8;
  static final int NET_BYTES = FREED_BYTES + 8;
  static final int PEAK_BYTES = NET_BYTES + 8;
  static final int PEAK_ERROR_BYTES = PEAK_BYTES + 8;
  static final int LARGEST_BYTES = PEAK_ERROR_BYTES + 8;
  static final int LARGEST_ERROR_BYTES = LARGEST_BYTES + 8;
  static final int TEMPORARY_ALLOCATIONS = LARGEST_ERROR_BYTES + 8;
  static final int TEMPORARY_BYTES = TEMPORARY_ALLOCATIONS + 8;
  static final int RETAINED_ALLOCATIONS = TEMPORARY_BYTES + 8;
  static final int RETAINED_BYTES = RETAINED_ALLOCATIONS + 8;
  static final int FOREIGN_FREES = RETAINED_BYTES + 8;
  static final int FOREIGN_FREED_BYTES = FOREIGN_FREES + 8;
  static final int BYTES = FOREIGN_FREED_BYTES + 8;

  /** Options of mallometer_scope_open. */
  static final int THREAD = 0;

  static final int PROCESS = 1;
  static final int MATCHED = 2;

  /** Flags. */
  static final int INCOMPLETE = 1;

  static final int HAS_MATCHES = 2;
  static final int OVERFLOWED = 4;

  private static final String WAS_OFF =
      "counting was off for some time within the scope, so net bytes, peak and matches are unknown";

  private static final String OVERFLOW =
      "there are no matches: more than 49,152 objects of the scope were live at once, or a signal"
          + " handler allocated";

  private ScopeLayout() {}

  static ScopeFigures figures(ByteBuffer struct) {
    int flags = struct.getInt(FLAGS);
    boolean complete = (flags & INCOMPLETE) == 0;
    boolean matched = complete && (flags & HAS_MATCHES) != 0;
    boolean overflowed = (flags & OVERFLOWED) != 0;
    return new ScopeFigures(
        Optional.of(counts(struct, complete)),
        matched ? Optional.of(matches(struct)) : Optional.empty(),
        !complete ? WAS_OFF : overflowed ? OVERFLOW : "");
  }

  private static ScopeCounts counts(ByteBuffer struct, boolean complete) {
    long[] sizes = new long[SizeDistribution.CLASSES];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = struct.getLong(ALLOCATIONS + i * Long.BYTES);
    }
    return new ScopeCounts(
        SizeDistribution.of(sizes),
        struct.getLong(FREES),
        struct.getLong(FAILED),
        struct.getLong(REQUESTED_BYTES),
        struct.getLong(ALLOCATED_BYTES),
        struct.getLong(FREED_BYTES),
        complete ? struct.getLong(NET_BYTES) : Double.NaN,
        complete ? struct.getLong(PEAK_BYTES) : Double.NaN,
        complete ? struct.getLong(PEAK_ERROR_BYTES) : Double.NaN,
        struct.getLong(LARGEST_BYTES),
        struct.getLong(LARGEST_ERROR_BYTES));
  }

  private static ScopeMatches matches(ByteBuffer struct) {
    return new ScopeMatches(
        struct.getLong(TEMPORARY_ALLOCATIONS),
        struct.getLong(TEMPORARY_BYTES),
        struct.getLong(RETAINED_ALLOCATIONS),
        struct.getLong(RETAINED_BYTES),
        struct.getLong(FOREIGN_FREES),
        struct.getLong(FOREIGN_FREED_BYTES));
  }
}
