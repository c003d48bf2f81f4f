package io.mallometer.internal.history;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A region of the recording: a ring of slots of one size.
 *
 * @param kind the kind of records, by its number in {@link RecordingFormat}
 * @param slotBytes the size of a slot; a record begins at the slot's first byte and may be shorter
 * @param offset the offset of the first slot
 * @param intervalNanos time between two records; 0 if it is not fixed
 */
record RecordingRegion(int kind, int slotBytes, long offset, int slots, long intervalNanos) {

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
