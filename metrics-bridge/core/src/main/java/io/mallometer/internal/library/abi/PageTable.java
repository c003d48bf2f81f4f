package io.mallometer.internal.library.abi;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;

/**
 * Tells which pages of this process are in memory, by {@code /proc/self/pagemap}, which has eight
 * bytes for each page. Reads some pages ahead, because callers ask in ascending order.
 */
public final class PageTable implements AutoCloseable {

  public static final String OF_THIS_PROCESS = "/proc/self/pagemap";

  static final long PAGE = 4096;

  /**
   * The largest number of pages whose entries are read at a time. These entries take 8 KiB, for
   * which the JDK allocates no buffer.
   */
  private static final int MOST_AT_ONCE = 1_024;

  /**
   * The fewest pages of one read. Copying this many entries takes less time than the system call
   * itself.
   */
  private static final int FEWEST_AT_ONCE = 32;

  /**
   * The index of the highest byte in a page entry. That byte is negative if the page is in memory.
   */
  private static final int HIGHEST =
      ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Long.BYTES - 1 : 0;

  private final RandomAccessFile file;
  private final byte[] entries = new byte[MOST_AT_ONCE * Long.BYTES];
  private long first;
  private int count;

  public PageTable(String path) throws IOException {
    file = new RandomAccessFile(path, "r");
  }

  /**
   * Returns whether a page is in memory.
   *
   * @param page the address divided by the size of a page
   * @param ahead the number of pages, from this one on, that the caller will ask for
   */
  public boolean isPresent(long page, long ahead) throws IOException {
    if (page < first || page >= first + count) {
      int wanted = (int) Math.max(FEWEST_AT_ONCE, Math.min(ahead, MOST_AT_ONCE));
      count = 0;
      file.seek(page * Long.BYTES);
      int read = file.read(entries, 0, wanted * Long.BYTES);
      if (read < Long.BYTES) {
        throw new EOFException("no page " + page);
      }
      first = page;
      count = read / Long.BYTES;
    }
    return entries[(int) (page - first) * Long.BYTES + HIGHEST] < 0;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
