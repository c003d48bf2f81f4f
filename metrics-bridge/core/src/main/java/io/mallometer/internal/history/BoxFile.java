package io.mallometer.internal.history;

import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Java's hand in the black box's file: its own regions of the library's file, or, without the
 * library, a file of its own with everything in it.
 *
 * <p>Written by plain writes and not through a mapping: a mapped file that somebody truncates ends
 * the process. The kernel keeps what was written when the process is gone, as it does for mapped
 * pages. A stream and not a channel, which an interrupt of the writing thread would close.
 *
 * <p>A file of its own is made as the library makes one ({@code black_box_file.c}): complete before
 * it has its name, locked while it is open, the life before moved aside, nothing overwritten that
 * is no black box of this user.
 */
final class BoxFile implements Closeable {

  /** A life that got this far in the ring of the longest interval lasted five minutes. */
  private static final int SAMPLES_OF_A_LONG_LIFE = 5;

  /** Slots of profiles at the peak; the first ones. */
  private static final int PEAKS = 2;

  private static final Path SELF = Path.of("/proc/self");

  private final RandomAccessFile file;
  private final long[] sequences = new long[BoxFormat.LAYOUT.length];
  private long peaks;

  private final long life;

  private BoxFile(RandomAccessFile file, long life) throws IOException {
    this.file = file;
    this.life = life;
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
  static BoxFile join(Path path, long life) throws IOException {
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(path + " does not exist any more");
    }
    RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
    try {
      if (header(file).getLong(BoxFormat.HEADER_LIFE) != life) {
        throw new IOException(path + " has been replaced by another file");
      }
      return new BoxFile(file, life);
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  /**
   * Goes on in a file that this process made before, or makes one as {@link #create} does.
   *
   * @param header what a new file begins with
   */
  static BoxFile createOrContinue(Path path, ByteBuffer header) throws IOException {
    if (isOwn(path)) {
      RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
      try {
        ByteBuffer there = header(file);
        if (BoxHeader.sameProcess(there, header)) {
          lock(file, path);
          BoxFile continued = new BoxFile(file, there.getLong(BoxFormat.HEADER_LIFE));
          continued.takeBackShutdown();
          return continued;
        }
      } catch (IOException e) {
        file.close();
        throw e;
      }
      file.close();
    }
    return create(path, header);
  }

  private static ByteBuffer header(RandomAccessFile file) throws IOException {
    ByteBuffer header = BoxFormat.buffer(BoxFormat.HEADER_BYTES);
    file.readFully(header.array());
    return header;
  }

  /**
   * Makes a file and moves the life before aside.
   *
   * @param header what the file begins with
   * @throws IOException if that is not possible; the message says why, with the file's name
   */
  static BoxFile create(Path path, ByteBuffer header) throws IOException {
    Path previous = Path.of(path + ".previous");
    Path kept = Path.of(path + ".kept");
    try (Closeable old = lockOwn(path)) {
      boolean displaces = old != null;
      boolean keep = displaces && shouldKeep(previous, kept);
      BoxFile fresh = fresh(path, header);
      try {
        if (keep) {
          move(previous, kept);
        }
        if (displaces) {
          move(path, previous);
        }
        Files.move(Path.of(path + ".new"), path);
        return fresh;
      } catch (IOException e) {
        fresh.close();
        Files.deleteIfExists(Path.of(path + ".new"));
        throw e;
      }
    }
  }

  private static BoxFile fresh(Path path, ByteBuffer header) throws IOException {
    Path name = Path.of(path + ".new");
    if (Files.exists(name, LinkOption.NOFOLLOW_LINKS)) {
      removeUnfinished(name);
    }
    Files.createFile(
        name, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    RandomAccessFile file = new RandomAccessFile(name.toFile(), "rw");
    try {
      // Zeros and not a hole, so that later writes find their blocks on a disk that is full by
      // then.
      byte[] zeros = new byte[64 << 10];
      for (int written = 0; written < BoxFormat.FILE_BYTES; written += zeros.length) {
        file.write(zeros);
      }
      file.seek(0);
      file.write(header.array());
      lock(file, path);
      return new BoxFile(file, header.getLong(BoxFormat.HEADER_LIFE));
    } catch (IOException e) {
      file.close();
      Files.deleteIfExists(name);
      throw new IOException("cannot write " + path + ": " + e.getMessage(), e);
    }
  }

  // ---- What lies there already

  /** Opens and locks a black box that may be moved aside; null if there is none. */
  private static @Nullable Closeable lockOwn(Path path) throws IOException {
    if (!isOwn(path)) {
      return null;
    }
    RandomAccessFile old = new RandomAccessFile(path.toFile(), "rw");
    try {
      lock(old, path);
      return old;
    } catch (IOException e) {
      old.close();
      throw e;
    }
  }

  /** Until the file is closed. It conflicts with the library's lock, too. */
  private static void lock(RandomAccessFile file, Path path) throws IOException {
    // An interrupt that is pending would close the file.
    boolean interrupted = Thread.interrupted();
    try {
      FileLock lock = file.getChannel().tryLock();
      if (lock == null) {
        throw new IOException(path + " is in use by another process");
      }
    } catch (IllegalStateException e) {
      throw new IOException(path + " is in use by this process", e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Whether a black box of this user is there; false if nothing is.
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
    if (!Arrays.equals(beginning(path), BoxFormat.MAGIC)) {
      throw new IOException(path + " is not a black box and is left unchanged");
    }
    return true;
  }

  private static byte[] beginning(Path path) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      byte[] beginning = new byte[BoxFormat.MAGIC.length];
      return Arrays.copyOf(beginning, Math.max(0, file.read(beginning)));
    }
  }

  /** One that a killed process left before it was complete; never somebody else's file. */
  private static void removeUnfinished(Path name) throws IOException {
    byte[] beginning =
        Files.isRegularFile(name, LinkOption.NOFOLLOW_LINKS) ? beginning(name) : new byte[] {1};
    boolean unfinished = Arrays.equals(beginning, new byte[beginning.length]);
    if (!unfinished && !isOwn(name)) {
      return;
    }
    try (RandomAccessFile file = new RandomAccessFile(name.toFile(), "rw")) {
      lock(file, name);
      Files.delete(name);
    }
  }

  /** Whether the life before the last one displaces the one that is kept. */
  private static boolean shouldKeep(Path previous, Path kept) throws IOException {
    boolean keptExists = isOwn(kept);
    return isOwn(previous) && (!keptExists || lastedLong(previous));
  }

  private static boolean lastedLong(Path path) {
    try {
      BoxRegion minutes = BoxFormat.LAYOUT[2];
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
        file.seek(minutes.offsetOf(SAMPLES_OF_A_LONG_LIFE + 1) + BoxFormat.SEQUENCE);
        return file.readLong() != 0;
      }
    } catch (IOException e) {
      return false;
    }
  }

  private static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
    } catch (NoSuchFileException e) {
      // Somebody has removed it meanwhile; nothing is lost by us.
      return;
    }
  }

  // ---- Writing

  /** Somebody else in this process may have written before. */
  private void continueSequences() throws IOException {
    for (int i = 0; i < BoxFormat.LAYOUT.length; i++) {
      BoxRegion region = BoxFormat.LAYOUT[i];
      byte[] ring = new byte[region.slots() * region.slotBytes()];
      file.seek(region.offset());
      file.readFully(ring);
      ByteBuffer slots = ByteBuffer.wrap(ring).order(ByteOrder.LITTLE_ENDIAN);
      for (int slot = 0; slot < region.slots(); slot++) {
        long sequence = slots.getLong(slot * region.slotBytes() + BoxFormat.SEQUENCE);
        sequences[i] = Math.max(sequences[i], sequence);
      }
    }
  }

  /** Writes as many lines of a text as fit into the next slot of the region of a kind. */
  void write(int kind, Instant time, long monotonicNanos, MemoryText text) throws IOException {
    int index = indexOf(kind);
    byte[] encoded = text.toString().getBytes(StandardCharsets.UTF_8);
    int room = BoxFormat.LAYOUT[index].slotBytes() - BoxFormat.FRAME_BYTES;
    int length = wholeLines(encoded, room);
    ByteBuffer record = BoxFormat.buffer(BoxFormat.FRAME_BYTES + length);
    record.put(BoxFormat.FRAME_BYTES, encoded, 0, length);
    record.putInt(BoxFormat.KIND, BoxFormat.RECORD_TEXT);
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
    int index = indexOf(BoxFormat.PROFILES);
    BoxRegion region = BoxFormat.LAYOUT[index];
    byte[] profile = ProfileText.write(read, region.slotBytes() - BoxFormat.FRAME_BYTES);
    ByteBuffer record = BoxFormat.buffer(BoxFormat.FRAME_BYTES + profile.length);
    record.put(BoxFormat.FRAME_BYTES, profile);
    record.putInt(BoxFormat.KIND, BoxFormat.RECORD_PROFILE);
    record.putInt(BoxFormat.FLAGS, moment.percent());
    synchronized (this) {
      skipTo(region, index, moment);
      write(index, read.time(), monotonicNanos, record);
    }
  }

  /** Numbers are left out until the next belongs into the slot of a moment. */
  private void skipTo(BoxRegion region, int index, KeptMoment moment) {
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
    ByteBuffer record = BoxFormat.buffer(BoxFormat.FRAME_BYTES);
    record.putInt(BoxFormat.KIND, BoxFormat.RECORD_SHUTDOWN);
    write(indexOf(BoxFormat.SHUTDOWN), time, monotonicNanos, record);
  }

  /** The life goes on: whoever closed the file before did not end it. */
  private synchronized void takeBackShutdown() throws IOException {
    int index = indexOf(BoxFormat.SHUTDOWN);
    if (sequences[index] > 0) {
      file.seek(BoxFormat.LAYOUT[index].offset());
      file.write(new byte[BoxFormat.LAYOUT[index].slotBytes()]);
      sequences[index] = 0;
    }
  }

  /** Writes a sample into one of the rings of samples, the finest of which is 0. */
  void writeSample(int ring, Instant time, long monotonicNanos, ByteBuffer sample)
      throws IOException {
    write(ring, time, monotonicNanos, sample);
  }

  private synchronized void write(int index, Instant time, long monotonicNanos, ByteBuffer record)
      throws IOException {
    BoxRegion region = BoxFormat.LAYOUT[index];
    long sequence = ++sequences[index];
    record.putInt(BoxFormat.LENGTH, record.capacity());
    record.putLong(BoxFormat.SEQUENCE, sequence);
    record.putLong(BoxFormat.REALTIME, realtimeNanos(time));
    record.putLong(BoxFormat.MONOTONIC, monotonicNanos);
    record.putInt(
        BoxFormat.CHECKSUM, BoxFormat.checksum(record, BoxFormat.LENGTH, record.capacity()));
    file.seek(region.offsetOf(sequence));
    file.write(record.array());
  }

  /** Nanoseconds since 1970, which a long holds until 2262. */
  static long realtimeNanos(Instant time) {
    return time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }

  private static int indexOf(int kind) {
    for (int i = 0; i < BoxFormat.LAYOUT.length; i++) {
      if (BoxFormat.LAYOUT[i].kind() == kind) {
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
