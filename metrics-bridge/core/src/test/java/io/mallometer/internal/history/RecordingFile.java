package io.mallometer.internal.history;

import io.mallometer.model.KeptMoment;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/** A recording in the library's format. A test writes it and sets the times in it. */
final class RecordingFile implements Closeable {

  /**
   * The number of slots for call sites at the peak of the live bytes. They are the first slots of
   * the region {@link RecordingFormat#PROFILES}.
   */
  private static final int PEAKS = 2;

  private final RandomAccessFile file;
  private final long life;
  private final List<RecordingRegion> regions = List.of(Recordings.LAYOUT);
  private final long[] sequences = new long[regions.size()];
  private long peaks;

  /**
   * Opens a file that has a header and no records.
   *
   * @param life the number that identifies the run
   */
  RecordingFile(Path path, long life) throws IOException {
    this.file = new RandomAccessFile(path.toFile(), "rw");
    this.life = life;
  }

  long life() {
    return life;
  }

  static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  void write(int kind, Instant time, long monotonicNanos, MemoryText text) throws IOException {
    write(kind, 0, time, monotonicNanos, text.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Writes the same record as {@code mallometer_recording_write}. */
  void write(int kind, int percent, Instant time, long monotonicNanos, byte[] content)
      throws IOException {
    int index = indexOf(kind);
    int length = wholeLines(content, regions.get(index).slotBytes() - RecordingFormat.FRAME_BYTES);
    ByteBuffer record = buffer(RecordingFormat.FRAME_BYTES + length);
    record.put(RecordingFormat.FRAME_BYTES, content, 0, length);
    record.putInt(
        RecordingFormat.SAMPLE_KIND,
        switch (kind) {
          case RecordingFormat.SHUTDOWN -> RecordingFormat.RECORD_SHUTDOWN;
          case RecordingFormat.PROFILES -> RecordingFormat.RECORD_PROFILE;
          default -> RecordingFormat.RECORD_TEXT;
        });
    record.putInt(RecordingFormat.SAMPLE_FLAGS, percent);
    if (kind == RecordingFormat.PROFILES) {
      skipTo(percent == 0 ? (int) (++peaks % PEAKS) : slotOf(percent), index);
    }
    write(index, time, monotonicNanos, record);
  }

  private static int slotOf(int percent) {
    return PEAKS - 1 + KeptMoment.ofPercent(percent).orElseThrow().ordinal();
  }

  private void skipTo(int slot, int index) {
    while (sequences[index] % regions.get(index).slots() != slot) {
      sequences[index]++;
    }
  }

  private static int wholeLines(byte[] text, int room) {
    int length = Math.min(room, text.length);
    while (length < text.length && length > 0 && text[length - 1] != '\n') {
      length--;
    }
    return length;
  }

  void write(int index, Instant time, long monotonicNanos, ByteBuffer record) throws IOException {
    RecordingRegion region = regions.get(index);
    long sequence = ++sequences[index];
    record.putInt(RecordingFormat.SAMPLE_LENGTH, record.capacity());
    record.putLong(RecordingFormat.SAMPLE_SEQUENCE, sequence);
    record.putLong(RecordingFormat.SAMPLE_REALTIME_NS, realtimeNanos(time));
    record.putLong(RecordingFormat.SAMPLE_MONOTONIC_NS, monotonicNanos);
    record.putInt(
        RecordingFormat.SAMPLE_CHECKSUM,
        RecordingBytes.checksum(record, RecordingFormat.SAMPLE_LENGTH, record.capacity()));
    file.seek(region.offset() + (sequence - 1) % region.slots() * region.slotBytes());
    file.write(record.array());
  }

  /** Returns nanoseconds since 1970. They fit a long until 2262. */
  static long realtimeNanos(Instant time) {
    return time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }

  private int indexOf(int kind) {
    return regions.stream().map(RecordingRegion::kind).toList().indexOf(kind);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
