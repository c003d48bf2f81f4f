package io.mallometer.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/**
 * This process' own memory through {@code /proc/self/mem} and {@code /proc/self/pagemap}: an
 * address that is no longer mapped is an error of a read and not a crash.
 */
final class OwnMemory implements AddressSpace, AutoCloseable {

  private static final int PAGE = 4096;

  /** Of a gigabyte, whose entries are 2 MiB; what is larger is not worth the reading. */
  private static final long MOST_PAGES = (1L << 30) / PAGE;

  /** The highest bit of a page's entry. */
  private static final long PRESENT = Long.MIN_VALUE;

  private final RandomAccessFile memory;
  private final RandomAccessFile pages;

  /**
   * Opens the files.
   *
   * @throws IOException if they may not be read
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
      return OptionalLong.of(words(memory, address, 1).getLong());
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  @Override
  public OptionalLong residentBytes(long start, long end) {
    long count = (end - start) / PAGE;
    if (count > MOST_PAGES) {
      return OptionalLong.empty();
    }
    try {
      ByteBuffer entries = words(pages, start / PAGE * Long.BYTES, (int) count);
      long present = 0;
      while (entries.hasRemaining()) {
        if ((entries.getLong() & PRESENT) != 0) {
          present++;
        }
      }
      return OptionalLong.of(present * PAGE);
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  private static ByteBuffer words(RandomAccessFile file, long position, int count)
      throws IOException {
    byte[] bytes = new byte[count * Long.BYTES];
    file.seek(position);
    file.readFully(bytes);
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }

  @Override
  public void close() throws IOException {
    memory.close();
    pages.close();
  }
}
