package io.mallometer.internal.history;

import java.nio.ByteBuffer;

/**
 * A ring of slots of one size.
 *
 * @param kind what the records are, as {@link RecordingFormat} numbers them
 * @param slotBytes bytes of a slot, of which a record takes the first
 * @param offset where the first slot begins
 * @param slots how many there are
 * @param intervalNanos time between two records; 0 where there is no fixed one
 */
record RecordingRegion(int kind, int slotBytes, long offset, int slots, long intervalNanos) {

  /** Where the record with a sequence number, from 1, belongs. */
  long offsetOf(long sequence) {
    return offset + Math.floorMod(sequence - 1, (long) slots) * slotBytes;
  }

  static RecordingRegion read(ByteBuffer bytes, int at) {
    return new RecordingRegion(
        bytes.getInt(at),
        bytes.getInt(at + 4),
        bytes.getLong(at + 8),
        bytes.getInt(at + 16),
        bytes.getLong(at + 24));
  }
}
