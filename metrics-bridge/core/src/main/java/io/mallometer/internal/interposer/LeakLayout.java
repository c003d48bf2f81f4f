package io.mallometer.internal.interposer;

import io.mallometer.model.Observation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The structs of leak evidence, of ABI version {@value Availability#ABI_VERSION}, by byte offset.
 * The header orders fields so that there is no padding; a test compares these offsets with a C
 * compiler's.
 */
final class LeakLayout {

  /** {@code struct mallometer_observation}. */
  static final int SIZE = 0;

  static final int STATE = 8;
  static final int METHOD = 12;
  static final int STARTED_NS = 16;
  static final int EPOCHS = 24;
  static final int VOID_EPOCHS = 32;
  static final int EPOCH_END_NS = 40;
  static final int EPOCH_NS = 48;
  static final int CPU_NS = 56;
  static final int ARENA_BYTES = 64;
  static final int RESIDENT_BYTES = 72;
  static final int LIMIT_BYTES = 80;
  static final int SLOTS_IN_USE = 88;
  static final int SLOT_CLASSES = 4;
  static final int SLOTS = SLOTS_IN_USE + SLOT_CLASSES * Integer.BYTES;
  static final int PLACED = SLOTS + SLOT_CLASSES * Integer.BYTES;
  static final int NOT_PLACED = PLACED + 8;
  static final int TOO_LARGE = NOT_PLACED + 8;
  static final int RETIRED = TOO_LARGE + 8;
  static final int CAN_WATCH = RETIRED + 8;
  static final int REASON = CAN_WATCH + 8;
  static final int REASON_BYTES = 160;
  static final int WATCH_REASON = REASON + REASON_BYTES;
  static final int BYTES = WATCH_REASON + REASON_BYTES;

  static final int STATE_OFF = 0;
  static final int STATE_STARTING = 1;
  static final int STATE_ON = 2;
  static final int STATE_FAILED = 3;
  static final int BY_COLD = 1;
  static final int BY_CLEAR_REFS = 2;

  /** {@code struct mallometer_durations}. */
  static final int DURATION_COUNT = 0;

  static final int DURATION_WEIGHT = 8;
  static final int DURATIONS_BYTES = DURATION_WEIGHT + Durations.BUCKETS * Float.BYTES;

  /** {@code struct mallometer_site_evidence}. */
  static final int SITE = 0;

  static final int SITE_PLACED = 8;
  static final int SITE_FREED = 16;
  static final int SITE_LIFETIMES = 24;
  static final int SITE_IDLE_BEFORE_FREE = SITE_LIFETIMES + DURATIONS_BYTES;
  static final int SITE_GAPS = SITE_IDLE_BEFORE_FREE + DURATIONS_BYTES;
  static final int SITE_BYTES = SITE_GAPS + DURATIONS_BYTES;

  /** {@code struct mallometer_access}. */
  static final int ACCESS_SITE = 0;

  static final int ACCESS_KIND = 4;
  static final int ACCESS_MONOTONIC_NS = 8;
  static final int ACCESS_THREAD_ID = 24;
  static final int ACCESS_FRAMES = 28;
  static final int ACCESS_THREAD_NAME = 32;
  static final int ACCESS_THREAD_NAME_BYTES = 16;
  static final int ACCESS_STACK = ACCESS_THREAD_NAME + ACCESS_THREAD_NAME_BYTES;
  static final int ACCESS_MOST_FRAMES = 64;
  static final int ACCESS_BYTES = ACCESS_STACK + ACCESS_MOST_FRAMES * Long.BYTES;

  static final int ANY_ACCESS = 1;
  static final int WRITE = 2;

  /** {@code enum mallometer_option}. */
  static final int OPTION_SHORTEST_EPOCH = 3;

  static final int OPTION_EPOCH_OVER_COST = 4;

  private static final double NANOS = 1e9;
  private static final long SMALLEST_SLOT_BYTES = 4 << 10;
  private static final int SLOT_FACTOR = 16;

  private LeakLayout() {}

  static Observation observation(ByteBuffer struct) {
    boolean canWatch = struct.getInt(CAN_WATCH) == 1;
    String watchReason = ReportLayout.text(struct, WATCH_REASON, REASON_BYTES);
    return new Observation(
        state(struct.getInt(STATE)),
        ReportLayout.text(struct, REASON, REASON_BYTES),
        method(struct.getInt(METHOD)),
        struct.getLong(STARTED_NS),
        struct.getLong(EPOCH_END_NS),
        struct.getLong(EPOCH_NS) / NANOS,
        struct.getLong(EPOCHS),
        struct.getLong(VOID_EPOCHS),
        struct.getLong(CPU_NS) / NANOS,
        struct.getLong(ARENA_BYTES),
        struct.getLong(RESIDENT_BYTES),
        struct.getLong(LIMIT_BYTES),
        slots(struct),
        struct.getLong(PLACED),
        struct.getLong(NOT_PLACED),
        struct.getLong(TOO_LARGE),
        canWatch
            ? ""
            : watchReason.isEmpty() ? "watchpoints do not work on this system" : watchReason,
        "");
  }

  static Observation.State state(int number) {
    return switch (number) {
      case STATE_OFF -> Observation.State.OFF;
      case STATE_STARTING -> Observation.State.STARTING;
      case STATE_ON -> Observation.State.ON;
      default -> Observation.State.FAILED;
    };
  }

  private static String method(int number) {
    return switch (number) {
      case BY_COLD -> "cold";
      case BY_CLEAR_REFS -> "clear_refs";
      default -> "";
    };
  }

  private static List<Observation.Slots> slots(ByteBuffer struct) {
    List<Observation.Slots> slots = new ArrayList<>(SLOT_CLASSES);
    long bytes = SMALLEST_SLOT_BYTES;
    for (int i = 0; i < SLOT_CLASSES; i++) {
      slots.add(
          new Observation.Slots(
              bytes,
              struct.getInt(SLOTS + i * Integer.BYTES),
              struct.getInt(SLOTS_IN_USE + i * Integer.BYTES)));
      bytes *= SLOT_FACTOR;
    }
    return slots;
  }

  /** Decodes an element of an array of live samples. */
  static SampledObject object(ByteBuffer objects, int at) {
    return new SampledObject(
        objects.getInt(at + SiteLayout.OBJECT_SITE),
        objects.getLong(at + SiteLayout.OBJECT_SIZE),
        objects.getDouble(at + SiteLayout.OBJECT_PROBABILITY),
        objects.getDouble(at + SiteLayout.OBJECT_PLACEMENT),
        objects.getLong(at + SiteLayout.OBJECT_BORN_NS),
        objects.getLong(at + SiteLayout.OBJECT_LAST_ACCESS_NS));
  }

  /** Decodes an element of an array of site evidence. */
  static SiteUse site(ByteBuffer sites, int at) {
    return new SiteUse(
        sites.getLong(at + SITE_PLACED),
        sites.getLong(at + SITE_FREED),
        durations(sites, at + SITE_LIFETIMES),
        durations(sites, at + SITE_IDLE_BEFORE_FREE),
        durations(sites, at + SITE_GAPS));
  }

  private static Durations durations(ByteBuffer struct, int at) {
    long count = struct.getLong(at + DURATION_COUNT);
    if (count == 0) {
      return Durations.NONE;
    }
    float[] weights = new float[Durations.BUCKETS];
    for (int i = 0; i < weights.length; i++) {
      float weight = struct.getFloat(at + DURATION_WEIGHT + i * Float.BYTES);
      weights[i] = weight > 0 && weight < Float.POSITIVE_INFINITY ? weight : 0;
    }
    return new Durations(count, weights);
  }
}
