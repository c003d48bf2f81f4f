package io.mallometer.interposer;

import io.mallometer.CallSite;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * How old the live samples of each site are. A sample of probability p stands for 1/p objects of
 * its size, so the quantiles are weighted by bytes / p: half of a site's live bytes are at most as
 * old as the median.
 */
final class SampledAges {

  private static final double NANOS = 1e9;

  /** For 65,536 objects, and ages of 278 years in milliseconds above. */
  private static final int INDEX_BITS = 20;

  /** One site while its samples are gone through, youngest first. */
  private static final class Accumulation {
    double total;
    double passed;
    double median = Double.NaN;
    double ninetyPercent = Double.NaN;
    double oldest = Double.NaN;

    void pass(double weight, double age) {
      passed += weight;
      if (Double.isNaN(median) && passed >= 0.5 * total) {
        median = age;
      }
      if (Double.isNaN(ninetyPercent) && passed >= 0.9 * total) {
        ninetyPercent = age;
      }
      oldest = age;
    }
  }

  private SampledAges() {}

  /**
   * Ages by the number of the site.
   *
   * @param objects an array of {@code struct mallometer_object}
   * @param count its elements
   * @param now the clock that their births are told by, in nanoseconds
   */
  static Map<Integer, CallSite.Ages> of(ByteBuffer objects, int count, long now) {
    long[] youngestFirst = new long[count];
    Map<Integer, Accumulation> sites = new HashMap<>();
    for (int i = 0; i < count; i++) {
      long age = Math.max(0, now - objects.getLong(at(i) + SiteLayout.OBJECT_BORN_NS));
      // Age in milliseconds above, index below: sorted as one number.
      youngestFirst[i] = age / 1_000_000 << INDEX_BITS | i;
      sites.computeIfAbsent(site(objects, i), n -> new Accumulation()).total += weight(objects, i);
    }
    Arrays.sort(youngestFirst);
    for (long entry : youngestFirst) {
      int i = (int) entry & (1 << INDEX_BITS) - 1;
      long age = Math.max(0, now - objects.getLong(at(i) + SiteLayout.OBJECT_BORN_NS));
      sites.get(site(objects, i)).pass(weight(objects, i), age / NANOS);
    }
    Map<Integer, CallSite.Ages> ages = new HashMap<>();
    sites.forEach(
        (number, site) ->
            ages.put(number, new CallSite.Ages(site.median, site.ninetyPercent, site.oldest)));
    return ages;
  }

  private static int at(int index) {
    return index * SiteLayout.OBJECT_BYTES;
  }

  private static int site(ByteBuffer objects, int index) {
    return objects.getInt(at(index) + SiteLayout.OBJECT_SITE);
  }

  private static double weight(ByteBuffer objects, int index) {
    double probability = objects.getDouble(at(index) + SiteLayout.OBJECT_PROBABILITY);
    return objects.getLong(at(index) + SiteLayout.OBJECT_SIZE) / probability;
  }
}
