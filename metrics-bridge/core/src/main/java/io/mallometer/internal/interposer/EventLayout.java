package io.mallometer.internal.interposer;

import io.mallometer.model.HugeAllocation;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code struct mallometer_event} of ABI version {@value Availability#ABI_VERSION}, by byte offset.
 * The header orders fields so that there is no padding; a test compares these offsets with a C
 * compiler's.
 */
final class EventLayout {

  static final int NUMBER = 0;
  static final int REALTIME_NS = 8;
  static final int REQUESTED_BYTES = 16;
  static final int THREAD_ID = 24;
  static final int FRAMES = 28;
  static final int THREAD_NAME = 32;
  static final int THREAD_NAME_BYTES = 16;
  static final int STACK = 48;
  static final int MOST_FRAMES = 16;
  static final int BYTES = 176;

  /** As many as the library keeps. */
  static final int CAPACITY = 64;

  private static final long NANOS = 1_000_000_000L;

  private EventLayout() {}

  /** The return addresses of the first element of an array, innermost first. */
  static long[] stack(ByteBuffer event) {
    long[] stack = new long[Math.max(0, Math.min(MOST_FRAMES, event.getInt(FRAMES)))];
    for (int i = 0; i < stack.length; i++) {
      stack[i] = event.getLong(STACK + i * Long.BYTES);
    }
    return stack;
  }

  /** Decodes the first elements of an array. */
  static List<HugeAllocation> allocations(ByteBuffer events, int count) {
    List<HugeAllocation> allocations = new ArrayList<>(count);
    for (int at = 0; at < count * BYTES; at += BYTES) {
      long time = events.getLong(at + REALTIME_NS);
      allocations.add(
          new HugeAllocation(
              events.getLong(at + NUMBER),
              Instant.ofEpochSecond(time / NANOS, time % NANOS),
              events.getLong(at + REQUESTED_BYTES),
              events.getInt(at + THREAD_ID),
              ReportLayout.text(events, at + THREAD_NAME, THREAD_NAME_BYTES)));
    }
    return allocations;
  }
}
