package io.mallometer.internal.history;

import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The figures of the call sites (live and allocated objects and bytes) at one moment, for
 * comparison with a later one. Stacks are not stored. They are looked up in a later reading by the
 * number of the site, which never changes.
 *
 * <p>Keeps at most {@value #MOST_SITES} sites with 76 bytes each. Half of them are the sites with
 * the most live bytes, and the rest are the sites with the most allocated bytes.
 */
public final class KeptSites {

  static final int MOST_SITES = 2_048;

  /** The number of values that are stored for a site: estimate and variance of four amounts. */
  private static final int FIGURES = 8;

  private final Instant time;
  private final long samples;
  private final Map<String, Long> dropped;
  private final ByteUnit byteUnit;
  private final CallSites.Origin origin;
  private final int[] numbers;
  private final int[] taken;
  private final int[] live;
  private final double[] figures;

  private KeptSites(CallSites read, Collection<CallSite> kept) {
    this.time = read.time();
    this.samples = read.samples();
    this.dropped = read.dropped();
    this.byteUnit = read.byteUnit();
    this.origin = read.origin();
    List<CallSite> sites = new ArrayList<>(kept);
    sites.sort((one, other) -> Integer.compare(one.number(), other.number()));
    this.numbers = new int[sites.size()];
    this.taken = new int[numbers.length];
    this.live = new int[numbers.length];
    this.figures = new double[numbers.length * FIGURES];
    for (int i = 0; i < numbers.length; i++) {
      CallSite site = sites.get(i);
      numbers[i] = site.number();
      taken[i] = (int) Math.min(Integer.MAX_VALUE, site.samples());
      live[i] = (int) Math.min(Integer.MAX_VALUE, site.liveBytes().samples());
      put(i, 0, site.allocatedObjects());
      put(i, 2, site.allocatedBytes());
      put(i, 4, site.liveObjects());
      put(i, 6, site.liveBytes());
    }
  }

  public static KeptSites of(CallSites read) {
    return new KeptSites(read, SiteMoment.largest(read, MOST_SITES));
  }

  private void put(int index, int figure, Estimate estimate) {
    figures[index * FIGURES + figure] = estimate.value();
    figures[index * FIGURES + figure + 1] = estimate.variance();
  }

  private Estimate estimate(int index, int figure, int[] samples) {
    int at = index * FIGURES + figure;
    return new Estimate(figures[at], figures[at + 1], samples[index]);
  }

  /**
   * Returns the call sites at the stored moment, most live bytes first; rates and ages are unknown.
   *
   * @param now a later reading, which has the stacks
   */
  public CallSites sites(CallSites now) {
    List<CallSite> sites = new ArrayList<>();
    for (CallSite site : now.sites()) {
      int index = Arrays.binarySearch(numbers, site.number());
      if (index >= 0) {
        sites.add(then(index, site));
      }
    }
    sites.sort((one, other) -> Double.compare(other.liveBytes().value(), one.liveBytes().value()));
    return new CallSites(
        time, sites, samples, dropped, byteUnit, now.reason(), origin, now.buildIds());
  }

  private CallSite then(int index, CallSite now) {
    return new CallSite(
        now.number(),
        now.frames(),
        now.name(),
        now.library(),
        taken[index],
        estimate(index, 0, taken),
        estimate(index, 2, taken),
        estimate(index, 4, live),
        estimate(index, 6, live),
        Double.NaN,
        Double.NaN,
        CallSite.Ages.UNKNOWN);
  }
}
