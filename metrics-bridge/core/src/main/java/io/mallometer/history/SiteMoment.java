package io.mallometer.history;

import io.mallometer.CallSite;
import io.mallometer.CallSites;
import io.mallometer.SiteOrder;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Figures of the call sites at one moment: 16 bytes a site, in the order of their numbers. Of more
 * than {@value #MOST_SITES} sites, half of that are those with most live bytes and the rest those
 * with most allocated bytes.
 *
 * <p>Floats tell sums apart by a sixteen-millionth, less than the estimates that are in them are
 * sure of.
 */
final class SiteMoment {

  static final int MOST_SITES = 4_096;

  private final Instant time;
  private final boolean complete;
  private final int[] numbers;
  private final float[] liveBytes;
  private final float[] liveObjects;
  private final float[] allocatedBytes;

  private SiteMoment(Instant time, boolean complete, List<CallSite> kept) {
    this.time = time;
    this.complete = complete;
    this.numbers = kept.stream().mapToInt(CallSite::number).toArray();
    this.liveBytes = figures(kept, site -> site.liveBytes().value());
    this.liveObjects = figures(kept, site -> site.liveObjects().value());
    this.allocatedBytes = figures(kept, site -> site.allocatedBytes().value());
  }

  static SiteMoment of(CallSites read) {
    boolean complete = read.sites().size() <= MOST_SITES;
    Stream<CallSite> kept = complete ? read.sites().stream() : largest(read);
    return new SiteMoment(
        read.time(), complete, kept.sorted(Comparator.comparingInt(CallSite::number)).toList());
  }

  Instant time() {
    return time;
  }

  /** Live bytes of a site; 0 if it was not there, {@code NaN} if it may have been left out. */
  double liveBytes(int number) {
    return figure(number, liveBytes);
  }

  /**
   * The same with 0 for a site that was left out: it held less than each of the two thousand that
   * were kept for their live bytes.
   */
  double liveBytesOrNone(int number) {
    double known = liveBytes(number);
    return Double.isNaN(known) ? 0 : known;
  }

  /** Live objects of a site; 0 if it was not there, {@code NaN} if it may have been left out. */
  double liveObjects(int number) {
    return figure(number, liveObjects);
  }

  /** Bytes that a site had allocated since the process started, likewise. */
  double allocatedBytes(int number) {
    return figure(number, allocatedBytes);
  }

  private double figure(int number, float[] figures) {
    int index = Arrays.binarySearch(numbers, number);
    if (index >= 0) {
      return figures[index];
    }
    return complete ? 0 : Double.NaN;
  }

  private static Stream<CallSite> largest(CallSites read) {
    Map<Integer, CallSite> kept = new HashMap<>();
    read.sortedBy(SiteOrder.LIVE).stream()
        .limit(MOST_SITES / 2)
        .forEach(site -> kept.put(site.number(), site));
    for (CallSite site : read.sortedBy(SiteOrder.ALLOCATED)) {
      if (kept.size() == MOST_SITES) {
        break;
      }
      kept.put(site.number(), site);
    }
    return kept.values().stream();
  }

  private static float[] figures(List<CallSite> sites, ToDoubleFunction<CallSite> figure) {
    float[] figures = new float[sites.size()];
    for (int i = 0; i < figures.length; i++) {
      figures[i] = (float) figure.applyAsDouble(sites.get(i));
    }
    return figures;
  }
}
