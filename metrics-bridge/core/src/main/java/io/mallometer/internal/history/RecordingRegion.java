package io.mallometer.internal.history;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

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

  /** Returns the regions that a header lists. */
  static List<RecordingRegion> all(ByteBuffer header) {
    int used = header.getInt(RecordingFormat.HEADER_REGIONS_USED);
    return IntStream.range(0, Math.min(used, RecordingFormat.REGIONS))
        .mapToObj(i -> RecordingFormat.HEADER_REGIONS + i * RecordingFormat.REGION_BYTES)
        .map(at -> read(header, at))
        .toList();
  }

  private static RecordingRegion read(ByteBuffer bytes, int at) {
    return new RecordingRegion(
        bytes.getInt(at + RecordingFormat.REGION_KIND),
        bytes.getInt(at + RecordingFormat.REGION_SLOT_BYTES),
        bytes.getLong(at + RecordingFormat.REGION_OFFSET),
        bytes.getInt(at + RecordingFormat.REGION_SLOTS),
        bytes.getLong(at + RecordingFormat.REGION_INTERVAL_NS));
  }
}
