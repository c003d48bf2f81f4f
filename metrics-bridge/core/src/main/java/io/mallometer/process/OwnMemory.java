package io.mallometer.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * This process' own memory through {@code /proc/self/mem} and {@code /proc/self/pagemap}: an
 * address that is no longer mapped is an error of a read and not a crash.
 */
final class OwnMemory implements AddressSpace, AutoCloseable {

  /** Of a gigabyte, whose entries are 2 MiB; what is larger is not worth the reading. */
  private static final long MOST_PAGES = (1L << 30) / PAGE;

  /** The highest bit of a page's entry. */
  private static final long PRESENT = Long.MIN_VALUE;

  private final RandomAccessFile memory;
  private final RandomAccessFile pages;
  private final byte[] word = new byte[Long.BYTES];

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
      return OptionalLong.of(words(memory, address, word).getLong());
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  @Override
  public Optional<BitSet> residentPages(long start, long end) {
    long count = (end - start) / PAGE;
    if (count < 0 || count > MOST_PAGES) {
      return Optional.empty();
    }
    try {
      ByteBuffer entries =
          words(pages, start / PAGE * Long.BYTES, new byte[(int) count * Long.BYTES]);
      BitSet present = new BitSet((int) count);
      for (int i = 0; i < count; i++) {
        present.set(i, (entries.getLong() & PRESENT) != 0);
      }
      return Optional.of(present);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static ByteBuffer words(RandomAccessFile file, long position, byte[] bytes)
      throws IOException {
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
