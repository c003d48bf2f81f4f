package io.mallometer.internal.process;

import io.mallometer.internal.library.abi.PageTable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads the memory of this process through {@code /proc/self/mem} and {@code /proc/self/pagemap}.
 * Reading an address that is not mapped fails without a crash.
 */
final class OwnMemory implements AddressSpace {

  /**
   * The largest number of pages in a call of {@link #residentPages}: 1 GiB in total. Their entries
   * in the page table take 2 MiB.
   */
  private static final long MOST_PAGES = (1L << 30) / PAGE;

  private final RandomAccessFile memory;
  private final PageTable pages;
  private final byte[] buffer = new byte[(int) PAGE];
  private final ByteBuffer words = ByteBuffer.wrap(buffer).order(ByteOrder.nativeOrder());

  OwnMemory() throws IOException {
    memory = new RandomAccessFile("/proc/self/mem", "r");
    try {
      pages = new PageTable(PageTable.OF_THIS_PROCESS);
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
    BitSet present = new BitSet((int) count);
    try {
      for (int page = 0; page < count; page++) {
        present.set(page, pages.isPresent(start / PAGE + page, count - page));
      }
      return Optional.of(present);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    try {
      memory.close();
      pages.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
