package io.mallometer.internal.interposer;

/**
 * The structs of a search for owners, of ABI version {@value Availability#ABI_VERSION}, by byte
 * offset; a test compares these offsets with a C compiler's.
 */
final class OwnerLayout {

  /** {@code struct mallometer_owners}. */
  static final int SIZE = 0;

  static final int SAMPLES = 8;
  static final int SAMPLES_LEFT_OUT = 12;
  static final int SAMPLES_FREED = 16;
  static final int HOLDS = 20;
  static final int OBJECTS = 24;
  static final int LINKS = 28;
  static final int LEFT_OUT = 32;
  static final int POINTERS = 40;
  static final int NEXT_OBJECTS = 44;
  static final int NEXT_CLASSES = 48;
  static final int WALK_NS = 56;
  static final int BYTES = 64;

  /** {@code struct mallometer_hold}. */
  static final int HOLD_SAMPLE = 0;

  static final int HOLD_FREED = 4;
  static final int HOLD_OBJECT = 8;
  static final int HOLD_CLASS_NAME = 12;
  static final int HOLD_FIELD_NAME = 16;
  static final int HOLD_STEPS = 20;
  static final int HOLD_BYTES = 24;
  static final int HOLD_ROWS = 1;

  /** {@code struct mallometer_heap_object}. */
  static final int OBJECT_CLASS_NAME = 0;

  static final int OBJECT_KINDS = 4;
  static final int OBJECT_FLAGS = 8;
  static final int OBJECT_BYTES = 16;
  static final int OBJECT_ROWS = 2;

  /** {@code enum mallometer_heap_object_kinds}. */
  static final int KIND_CLASS = 1;

  static final int KIND_THREAD = 2;
  static final int KIND_REFERENCE = 4;
  static final int KIND_SOFT = 8;
  static final int KIND_PHANTOM = 16;
  static final int KIND_FINAL = 32;

  /** {@code enum mallometer_heap_object_flags}. */
  static final int FLAG_EXPANDED = 1;

  static final int FLAG_MORE = 2;
  static final int FLAG_REACHED = 4;
  static final int FLAG_FOLLOWED = 8;

  /** {@code struct mallometer_heap_link}. */
  static final int LINK_OBJECT = 0;

  static final int LINK_REFERRER = 4;
  static final int LINK_KIND = 8;
  static final int LINK_NAME = 12;
  static final int LINK_BYTES = 24;
  static final int LINK_ROWS = 3;

  private OwnerLayout() {}
}
