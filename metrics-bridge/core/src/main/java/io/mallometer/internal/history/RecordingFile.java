package io.mallometer.internal.history;

import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * Java's regions of the recording's file, which the library made.
 *
 * <p>Records are written by {@code write} and not through a mapping: if a mapped file is truncated,
 * the next access ends the process. The kernel keeps written bytes after the process has ended, as
 * it keeps mapped pages. The file is open as a stream, because an interrupt of the writing thread
 * would close a channel.
 */
final class RecordingFile implements Closeable {

  /** Slots of profiles at the peak; the first ones. */
  private static final int PEAKS = 2;

  private static final Path SELF = Path.of("/proc/self");

  private final RandomAccessFile file;
  private final List<RecordingRegion> regions;
  private final long[] sequences;
  private long peaks;

  private final long life;

  private RecordingFile(RandomAccessFile file, ByteBuffer header) throws IOException {
    this.file = file;
    this.life = header.getLong(RecordingFormat.HEADER_LIFE);
    this.regions = RecordingRegion.all(header);
    this.sequences = new long[regions.size()];
    continueSequences();
  }

  /** The number in the header. */
  long life() {
    return life;
  }

  /** Whether a region has a record. */
  boolean holds(int kind) {
    return sequences[indexOf(kind)] > 0;
  }

  // ---- Opening

  /**
   * Opens the file that the library made.
   *
   * @param life the number that its header must have
   * @throws IOException if it cannot be written, or has been replaced by another file
   */
  static RecordingFile join(Path path, long life) throws IOException {
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " does not exist any more");
    }
    RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
    try {
      ByteBuffer header = header(file);
      if (header.getLong(RecordingFormat.HEADER_LIFE) != life) {
        throw new IOException(path + " has been replaced by another file");
      }
      if (header.getInt(RecordingFormat.HEADER_CHECKSUM)
          != RecordingBytes.checksum(header, 0, RecordingFormat.HEADER_CHECKSUM)) {
        throw new IOException("the header of " + path + " is damaged");
      }
      return new RecordingFile(file, header);
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  private static ByteBuffer header(RandomAccessFile file) throws IOException {
    ByteBuffer header = RecordingBytes.buffer(RecordingFormat.HEADER_BYTES);
    file.readFully(header.array());
    return header;
  }

  // ---- What lies there already

  /**
   * Whether a recording of this user is there; false if nothing is.
   *
   * @throws IOException if something else is
   */
  static boolean isOwn(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    if (Files.isSymbolicLink(path)) {
      throw new IOException(path + " is a symbolic link");
    }
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " is not a regular file");
    }
    if (!Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)
        .equals(Files.getAttribute(SELF, "unix:uid"))) {
      throw new IOException(path + " belongs to another user");
    }
    if (!Arrays.equals(beginning(path), RecordingBytes.MAGIC)) {
      throw new IOException(path + " is not a recording and is left unchanged");
    }
    return true;
  }

  private static byte[] beginning(Path path) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      byte[] beginning = new byte[RecordingBytes.MAGIC.length];
      return Arrays.copyOf(beginning, Math.max(0, file.read(beginning)));
    }
  }

  // ---- Writing

  /** Somebody else in this process may have written before. */
  private void continueSequences() throws IOException {
    for (int i = 0; i < regions.size(); i++) {
      RecordingRegion region = regions.get(i);
      byte[] ring = new byte[region.slots() * region.slotBytes()];
      file.seek(region.offset());
      file.readFully(ring);
      ByteBuffer slots = ByteBuffer.wrap(ring).order(ByteOrder.LITTLE_ENDIAN);
      for (int slot = 0; slot < region.slots(); slot++) {
        long sequence = slots.getLong(slot * region.slotBytes() + RecordingFormat.SAMPLE_SEQUENCE);
        sequences[i] = Math.max(sequences[i], sequence);
      }
    }
  }

  /** Writes as many lines of a text as fit into the next slot of the region of a kind. */
  void write(int kind, Instant time, long monotonicNanos, MemoryText text) throws IOException {
    int index = indexOf(kind);
    byte[] encoded = text.toString().getBytes(StandardCharsets.UTF_8);
    int room = regions.get(index).slotBytes() - RecordingFormat.FRAME_BYTES;
    int length = wholeLines(encoded, room);
    ByteBuffer record = RecordingBytes.buffer(RecordingFormat.FRAME_BYTES + length);
    record.put(RecordingFormat.FRAME_BYTES, encoded, 0, length);
    record.putInt(RecordingFormat.SAMPLE_KIND, RecordingFormat.RECORD_TEXT);
    write(index, time, monotonicNanos, record);
  }

  /** The bytes of the lines that fit; a number that lost its last digits would be another. */
  private static int wholeLines(byte[] text, int room) {
    int length = Math.min(room, text.length);
    while (length > 0 && text[length - 1] != '\n') {
      length--;
    }
    return length;
  }

  /**
   * Writes as much of the call sites as has room, in the place of those of the last such moment. A
   * process that is killed meanwhile loses a crossing's; the peak has two places, of which the
   * older is written.
   */
  void writeProfile(KeptMoment moment, long monotonicNanos, CallSites read) throws IOException {
    int index = indexOf(RecordingFormat.PROFILES);
    RecordingRegion region = regions.get(index);
    byte[] profile = ProfileText.write(read, region.slotBytes() - RecordingFormat.FRAME_BYTES);
    ByteBuffer record = RecordingBytes.buffer(RecordingFormat.FRAME_BYTES + profile.length);
    record.put(RecordingFormat.FRAME_BYTES, profile);
    record.putInt(RecordingFormat.SAMPLE_KIND, RecordingFormat.RECORD_PROFILE);
    record.putInt(RecordingFormat.SAMPLE_FLAGS, moment.percent());
    synchronized (this) {
      skipTo(region, index, moment);
      write(index, read.time(), monotonicNanos, record);
    }
  }

  /** Numbers are left out until the next belongs into the slot of a moment. */
  private void skipTo(RecordingRegion region, int index, KeptMoment moment) {
    int slot = moment.ordinal() + PEAKS - 1;
    if (moment == KeptMoment.PEAK) {
      peaks++;
      slot = (int) (peaks % PEAKS);
    }
    while (Math.floorMod(sequences[index], (long) region.slots()) != slot) {
      sequences[index]++;
    }
  }

  /** Notes that Java has begun to shut down. */
  void writeShutdown(Instant time, long monotonicNanos) throws IOException {
    ByteBuffer record = RecordingBytes.buffer(RecordingFormat.FRAME_BYTES);
    record.putInt(RecordingFormat.SAMPLE_KIND, RecordingFormat.RECORD_SHUTDOWN);
    write(indexOf(RecordingFormat.SHUTDOWN), time, monotonicNanos, record);
  }

  /** Writes a record into the next slot of a region. */
  synchronized void write(int index, Instant time, long monotonicNanos, ByteBuffer record)
      throws IOException {
    RecordingRegion region = regions.get(index);
    long sequence = ++sequences[index];
    record.putInt(RecordingFormat.SAMPLE_LENGTH, record.capacity());
    record.putLong(RecordingFormat.SAMPLE_SEQUENCE, sequence);
    record.putLong(RecordingFormat.SAMPLE_REALTIME_NS, realtimeNanos(time));
    record.putLong(RecordingFormat.SAMPLE_MONOTONIC_NS, monotonicNanos);
    record.putInt(
        RecordingFormat.SAMPLE_CHECKSUM,
        RecordingBytes.checksum(record, RecordingFormat.SAMPLE_LENGTH, record.capacity()));
    file.seek(region.offsetOf(sequence));
    file.write(record.array());
  }

  /** Nanoseconds since 1970, which a long holds until 2262. */
  static long realtimeNanos(Instant time) {
    return time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }

  private int indexOf(int kind) {
    for (int i = 0; i < regions.size(); i++) {
      if (regions.get(i).kind() == kind) {
        return i;
      }
    }
    throw new IllegalArgumentException("no region of kind " + kind);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
