package io.mallometer.internal.interposer;

import java.nio.ByteBuffer;

/**
 * {@code struct mallometer_neighbour} of ABI version {@value Availability#ABI_VERSION}, by byte
 * offset; a test compares these offsets with a C compiler's.
 */
final class NeighboursLayout {

  static final int SITE = 0;
  static final int FLAGS = 4;
  static final int PROBABILITY = 8;
  static final int BORN_NS = 16;
  static final int BEFORE_BYTES = 24;
  static final int BEFORE_RESIDENT_BYTES = 32;
  static final int BEFORE_RETURNABLE_BYTES = 40;
  static final int AFTER_BYTES = 48;
  static final int AFTER_RESIDENT_BYTES = 56;
  static final int AFTER_RETURNABLE_BYTES = 64;
  static final int BYTES = 80;

  static final int KNOWN = 1;
  static final int LAST = 2;

  private NeighboursLayout() {}

  static Neighbours row(ByteBuffer rows, int at) {
    int flags = rows.getInt(at + FLAGS);
    return new Neighbours(
        rows.getInt(at + SITE),
        (flags & KNOWN) != 0,
        (flags & LAST) != 0,
        rows.getDouble(at + PROBABILITY),
        rows.getLong(at + BORN_NS),
        side(rows, at + BEFORE_BYTES),
        side(rows, at + AFTER_BYTES));
  }

  private static Neighbours.Side side(ByteBuffer rows, int at) {
    return new Neighbours.Side(
        rows.getLong(at),
        rows.getLong(at + BEFORE_RESIDENT_BYTES - BEFORE_BYTES),
        rows.getLong(at + BEFORE_RETURNABLE_BYTES - BEFORE_BYTES));
  }
}
