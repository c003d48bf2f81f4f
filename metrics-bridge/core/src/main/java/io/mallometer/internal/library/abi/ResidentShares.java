package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.SampledObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The resident share of the live bytes of each call site.
 *
 * <p>A sample of probability p stands for 1/p objects of its size, so the share is the sum of
 * resident bytes / p over the sum of bytes / p. The bytes of a sample that lie on a page in memory
 * are resident.
 *
 * <p>The library puts some samples into slots, on new pages of their own. The objects for which
 * such a sample stands lie elsewhere: small ones on pages that the allocator has used before, and
 * that are resident. So a sample in a slot counts as resident if it is smaller than the objects
 * that glibc maps singly.
 *
 * <p>A reading takes some 10 ms of CPU time at most. Of sites with very many samples only some are
 * looked up, and of large objects only some pages.
 */
final class ResidentShares {

  /**
   * The largest number of samples that one reading looks up, each by a system call of some
   * microseconds.
   */
  static final int MOST_SAMPLES = 4_096;

  /**
   * The largest number of pages that one reading looks up for all samples together: reading their
   * entries takes some milliseconds.
   */
  static final int MOST_PAGES = 262_144;

  /** An object of at least this many bytes gets a mapping of its own from glibc, on new pages. */
  static final int SINGLY_MAPPED = 128 << 10;

  /**
   * The number of consecutive pages that are looked up at each of several places in a large object.
   */
  private static final int PIECE = 16;

  private static final int FEWEST_PIECES = 2;

  /**
   * The low bits of a long that hold a sample's index; the bits above hold the sample's address.
   * Both fit, because an address has 47 bits, of which the lowest four are 0 and are not stored.
   */
  private static final int INDEX_BITS = 17;

  private final String path;

  /** The shares by the array index of the site; {@code NaN} if unknown. */
  private final double[] shares = new double[SampledObject.MOST_SITES];

  /** The share of all sites together; {@code NaN} if unknown. */
  private double mean = Double.NaN;

  /**
   * Creates an object in which all shares are unknown.
   *
   * @param path the page table of this process
   */
  ResidentShares(String path) {
    this.path = path;
    Arrays.fill(shares, Double.NaN);
  }

  /**
   * Returns the share of a site, 0 to 1; {@code NaN} if unknown. A site none of whose samples was
   * looked up has the share of all sites together: its samples are newer than the latest reading.
   */
  double share(int number) {
    double share = shares[SampledObject.arrayIndex(number)];
    return Double.isNaN(share) ? mean : share;
  }

  /**
   * Looks up the samples in the page table, and stores the shares of their sites.
   *
   * @param objects an array of {@code struct mallometer_object}, in any order
   * @param count its elements
   */
  void read(ByteBuffer objects, int count) {
    try (PageTable pages = new PageTable(path)) {
      visit(objects, chosen(objects, count), pages);
    } catch (IOException | SecurityException e) {
      Arrays.fill(shares, Double.NaN);
      mean = Double.NaN;
    }
  }

  /**
   * Returns the samples to look up, by ascending address. Each element has a sample's address in
   * its upper bits and the index of the sample in its lower bits. The samples in slots (pages of
   * their own) come first in the array, so the array is read in bit-reversed order, which mixes
   * them with the others.
   */
  private static long[] chosen(ByteBuffer objects, int count) {
    int most = mostOfSite(objects, count);
    int[] visited = new int[SampledObject.MOST_SITES];
    long[] chosen = new long[Math.min(count, MOST_SAMPLES)];
    int length = 0;
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(0, count - 1));
    for (int number = 0; number < 1 << bits && length < chosen.length; number++) {
      int i = Integer.reverse(number) >>> Integer.SIZE - bits;
      if (i >= count) {
        continue;
      }
      Abi.Object object = Abi.Object.row(objects, i);
      if (visited[SampledObject.arrayIndex(object.site())]++ < most) {
        chosen[length++] = address(object) >>> 4 << INDEX_BITS | i;
      }
    }
    chosen = Arrays.copyOf(chosen, length);
    Arrays.sort(chosen);
    return chosen;
  }

  /**
   * Returns how many samples of each site are looked up at most, so that no site uses up the
   * lookups.
   */
  private static int mostOfSite(ByteBuffer objects, int count) {
    int[] samples = new int[SampledObject.MOST_SITES];
    for (int i = 0; i < count; i++) {
      samples[SampledObject.arrayIndex(Abi.Object.row(objects, i).site())]++;
    }
    int most = MOST_SAMPLES;
    while (most > 1 && sum(samples, most) > MOST_SAMPLES) {
      most /= 2;
    }
    return most;
  }

  private static long sum(int[] samples, int most) {
    long sum = 0;
    for (int ofSite : samples) {
      sum += Math.min(ofSite, most);
    }
    return sum;
  }

  private void visit(ByteBuffer objects, long[] chosen, PageTable pages) throws IOException {
    double[] all = new double[SampledObject.MOST_SITES];
    double[] resident = new double[SampledObject.MOST_SITES];
    long mostPages = MOST_PAGES / Math.max(1, chosen.length);
    for (long entry : chosen) {
      Abi.Object object = Abi.Object.row(objects, (int) entry & (1 << INDEX_BITS) - 1);
      int site = SampledObject.arrayIndex(object.site());
      all[site] += object.bytes() / object.probability();
      resident[site] += residentBytes(object, pages, mostPages) / object.probability();
    }
    double total = Arrays.stream(all).sum();
    mean = total > 0 ? Arrays.stream(resident).sum() / total : Double.NaN;
    for (int site = 0; site < shares.length; site++) {
      shares[site] = all[site] > 0 ? resident[site] / all[site] : Double.NaN;
    }
  }

  private static long address(Abi.Object object) {
    return ~object.invertedAddress();
  }

  private static double residentBytes(Abi.Object object, PageTable pages, long mostPages)
      throws IOException {
    if (object.placement() > 0 && object.bytes() < SINGLY_MAPPED) {
      return object.bytes();
    }
    long begin = address(object);
    long end = begin + object.bytes();
    long first = begin / PageTable.PAGE;
    long behind = (end + PageTable.PAGE - 1) / PageTable.PAGE;
    if (behind - first > mostPages) {
      return object.bytes() * shareOfPieces(first, behind, pages, mostPages);
    }
    long bytes = 0;
    for (long page = first; page < behind; page++) {
      if (pages.isPresent(page, behind - page)) {
        bytes +=
            Math.min(end, (page + 1) * PageTable.PAGE) - Math.max(begin, page * PageTable.PAGE);
      }
    }
    return bytes;
  }

  /**
   * Returns the share of resident pages between two pages. Reads only runs of {@link #PIECE} pages,
   * which are evenly spaced.
   */
  private static double shareOfPieces(long first, long behind, PageTable pages, long mostPages)
      throws IOException {
    long pieces = Math.max(FEWEST_PIECES, mostPages * MOST_SAMPLES / MOST_PAGES);
    int present = 0;
    for (long piece = 0; piece < pieces; piece++) {
      long at = first + piece * (behind - PIECE - first) / (pieces - 1);
      for (int i = 0; i < PIECE; i++) {
        if (pages.isPresent(at + i, PIECE - i)) {
          present++;
        }
      }
    }
    return (double) present / (pieces * PIECE);
  }
}
