package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.SampledObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The resident share of the live bytes of each call site.
 *
 * <p>A sample of probability p stands for 1/p objects of its size, so the share is the sum of
 * resident bytes / p over the sum of bytes / p.
 *
 * <p>Some samples are in slots: each lies alone on new pages, which may not be resident. The
 * objects that such a sample stands for are in no slots. They lie on pages that the allocator
 * reuses, which are resident. A sample in a slot therefore counts as resident if it is below {@link
 * #SINGLY_MAPPED} bytes.
 *
 * <p>A reading takes at most some 10 ms of CPU time, because only some samples and pages are looked
 * up.
 */
final class ResidentShares {

  /**
   * The largest number of samples that one reading looks up, each by a system call of some
   * microseconds.
   */
  static final int MOST_SAMPLES = 4_096;

  /**
   * The most pages that one reading looks up for all samples together, which takes some
   * milliseconds.
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
   * The low bits of a long that hold a sample's index; the other bits hold its address. Both fit:
   * an address has 47 bits, and its lowest four are 0 and are not stored.
   */
  private static final int INDEX_BITS = 17;

  private final String path;

  private final double[] shares = new double[SampledObject.MOST_SITES];

  private double mean = Double.NaN;

  ResidentShares(String path) {
    this.path = path;
    Arrays.fill(shares, Double.NaN);
  }

  /**
   * Returns the resident share of the live bytes of a site, 0 to 1; {@code NaN} if unknown. If no
   * sample of the site was looked up, returns the mean of all sites, weighted by bytes.
   */
  double share(int number) {
    double share = shares[SampledObject.arrayIndex(number)];
    return Double.isNaN(share) ? mean : share;
  }

  void read(ByteBuffer objects, int count) {
    try (PageTable pages = new PageTable(path)) {
      visit(objects, chosen(objects, count), pages);
    } catch (IOException | SecurityException e) {
      Arrays.fill(shares, Double.NaN);
      mean = Double.NaN;
    }
  }

  /**
   * Returns the addresses of the samples to look up, in ascending order, each with the sample's
   * index in the low bits. Visits the array in bit-reversed order: the samples in slots (pages of
   * their own) come first in the array and would otherwise be the only ones looked up.
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
   * Returns how many samples of each site are looked up at most, so that one site cannot use up
   * {@link #MOST_SAMPLES}.
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
   * Estimates the share of resident pages in a range from evenly spaced runs of {@link #PIECE}
   * pages.
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
