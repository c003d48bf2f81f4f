package io.mallometer.internal.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads the memory of this process through {@code /proc/self/mem} and {@code /proc/self/pagemap}.
 * Reading an address that is not mapped fails without a crash.
 */
final class OwnMemory implements AddressSpace, AutoCloseable {

  /** The most pages of one request: 1 GiB, whose page table entries have 2 MiB. */
  private static final long MOST_PAGES = (1L << 30) / PAGE;

  /**
   * The number of page table entries of one read: 8 KiB, the most for which the JDK allocates no
   * buffer of its own.
   */
  private static final int ENTRIES_AT_ONCE = 1_024;

  /**
   * The index of the highest byte of a page's entry, whose sign bit shows that the page is present.
   */
  private static final int HIGHEST =
      ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Long.BYTES - 1 : 0;

  private final RandomAccessFile memory;
  private final RandomAccessFile pages;
  private final byte[] buffer = new byte[ENTRIES_AT_ONCE * Long.BYTES];
  private final ByteBuffer words = ByteBuffer.wrap(buffer).order(ByteOrder.nativeOrder());

  /**
   * Opens the files.
   *
   * @throws IOException if the process may not read them
   */
  OwnMemory() throws IOException {
    memory = new RandomAccessFile("/proc/self/mem", "r");
    try {
      pages = new RandomAccessFile("/proc/self/pagemap", "r");
    } catch (IOException | RuntimeException e) {
      memory.close();
      throw e;
    }
  }

  @Override
  public OptionalLong word(long address) {
    try {
      memory.seek(address);
      memory.readFully(buffer, 0, Long.BYTES);
      return OptionalLong.of(words.getLong(0));
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  @Override
  public Optional<long[]> words(long page) {
    try {
      memory.seek(page);
      memory.readFully(buffer, 0, (int) PAGE);
    } catch (IOException e) {
      return Optional.empty();
    }
    long[] found = new long[(int) PAGE / Long.BYTES];
    words.asLongBuffer().get(found);
    return Optional.of(found);
  }

  @Override
  public Optional<BitSet> residentPages(long start, long end) {
    long count = (end - start) / PAGE;
    if (count < 0 || count > MOST_PAGES) {
      return Optional.empty();
    }
    long[] present = new long[(int) (count + Long.SIZE - 1) / Long.SIZE];
    try {
      pages.seek(start / PAGE * Long.BYTES);
      for (int page = 0; page < count; page += ENTRIES_AT_ONCE) {
        addPresent(present, page, (int) Math.min(ENTRIES_AT_ONCE, count - page));
      }
      return Optional.of(BitSet.valueOf(present));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private void addPresent(long[] to, int first, int count) throws IOException {
    pages.readFully(buffer, 0, count * Long.BYTES);
    for (int i = 0; i < count; i++) {
      if (buffer[i * Long.BYTES + HIGHEST] < 0) {
        to[(first + i) / Long.SIZE] |= 1L << (first + i);
      }
    }
  }

  @Override
  public void close() throws IOException {
    memory.close();
    pages.close();
  }
}
