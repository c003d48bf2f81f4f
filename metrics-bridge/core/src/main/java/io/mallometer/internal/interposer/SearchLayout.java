package io.mallometer.internal.interposer;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The structs of a search, of ABI version {@value Availability#ABI_VERSION}, by byte offset. The
 * header orders fields so that there is no padding; a test compares these offsets with a C
 * compiler's.
 */
final class SearchLayout {

  /** {@code struct mallometer_searched}. */
  static final int SIZE = 0;

  static final int STATE = 8;
  static final int NUMBER = 12;
  static final int BEGAN_NS = 16;
  static final int ENDED_NS = 24;
  static final int CPU_NS = 32;
  static final int SEARCHED_BYTES = 40;
  static final int RESIDENT_BYTES = 48;
  static final int SWAPPED_BYTES = 56;
  static final int OBJECTS = 64;
  static final int LEFT_OUT = 68;
  static final int REASON = 72;
  static final int REASON_BYTES = 160;
  static final int BYTES = REASON + REASON_BYTES;

  static final int STATE_NONE = 0;
  static final int STATE_RUNNING = 1;
  static final int STATE_DONE = 2;
  static final int STATE_FAILED = 3;

  /** {@code struct mallometer_sought}. */
  static final int OBJECT_ID = 0;

  static final int OBJECT_SIZE = 8;
  static final int OBJECT_PROBABILITY = 16;
  static final int OBJECT_BORN_NS = 24;
  static final int OBJECT_SITE = 32;
  static final int OBJECT_REFERENCES = 36;
  static final int OBJECT_FREED = 40;
  static final int OBJECT_BYTES = 48;

  private static final double NANOS = 1e9;

  private SearchLayout() {}

  static MemorySearch search(ByteBuffer struct, ByteBuffer objects, int count) {
    return new MemorySearch(
        state(struct.getInt(STATE)),
        ReportLayout.text(struct, REASON, REASON_BYTES),
        struct.getInt(NUMBER),
        struct.getLong(BEGAN_NS),
        struct.getLong(ENDED_NS),
        struct.getLong(CPU_NS) / NANOS,
        struct.getLong(SEARCHED_BYTES),
        struct.getLong(RESIDENT_BYTES),
        struct.getLong(SWAPPED_BYTES),
        struct.getInt(LEFT_OUT),
        objects(objects, count));
  }

  private static MemorySearch.State state(int number) {
    return switch (number) {
      case STATE_NONE -> MemorySearch.State.NONE;
      case STATE_RUNNING -> MemorySearch.State.RUNNING;
      case STATE_DONE -> MemorySearch.State.DONE;
      default -> MemorySearch.State.FAILED;
    };
  }

  private static List<SoughtObject> objects(ByteBuffer objects, int count) {
    return IntStream.range(0, count).mapToObj(i -> object(objects, i * OBJECT_BYTES)).toList();
  }

  private static SoughtObject object(ByteBuffer objects, int at) {
    return new SoughtObject(
        objects.getLong(at + OBJECT_ID),
        objects.getInt(at + OBJECT_SITE),
        objects.getLong(at + OBJECT_SIZE),
        objects.getDouble(at + OBJECT_PROBABILITY),
        objects.getLong(at + OBJECT_BORN_NS),
        Integer.toUnsignedLong(objects.getInt(at + OBJECT_REFERENCES)),
        objects.getInt(at + OBJECT_FREED) != 0);
  }
}
