package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.model.CallSite;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The ages of the live samples of each site. A sample of probability p stands for 1/p objects, so
 * the quantiles are weighted by bytes / p: half of a site's live bytes are at most as old as the
 * median.
 */
final class SampledAges {

  private static final double NANOS = 1e9;

  /**
   * The low bits that hold an index, for up to 1,048,576 objects. The other bits hold an age in
   * milliseconds, for up to 278 years.
   */
  private static final int INDEX_BITS = 20;

  private final double[] median;

  private final double[] ninetyPercent;
  private final double[] oldest;

  private SampledAges(int sites) {
    this.median = unknown(sites);
    this.ninetyPercent = unknown(sites);
    this.oldest = unknown(sites);
  }

  /**
   * Returns the ages of the live sampled objects of each site.
   *
   * @param objects an array of {@code struct mallometer_object}
   * @param now in nanoseconds, by the clock of the objects' birth times
   */
  static SampledAges of(ByteBuffer objects, int count, long now) {
    long[] youngestFirst = new long[count];
    int sites = 0;
    for (int i = 0; i < count; i++) {
      // The upper bits hold the age in milliseconds and the lower bits the index, so that sorting
      // the numbers sorts the objects by age.
      youngestFirst[i] = age(objects, i, now) / 1_000_000 << INDEX_BITS | i;
      sites = Math.max(sites, 1 + site(objects, i));
    }
    double[] total = new double[sites];
    for (int i = 0; i < count; i++) {
      total[site(objects, i)] += weight(objects, i);
    }
    Arrays.sort(youngestFirst);
    SampledAges ages = new SampledAges(sites);
    double[] passed = new double[sites];
    for (long entry : youngestFirst) {
      int i = (int) entry & (1 << INDEX_BITS) - 1;
      int site = site(objects, i);
      passed[site] += weight(objects, i);
      ages.pass(site, passed[site], total[site], age(objects, i, now) / NANOS);
    }
    return ages;
  }

  CallSite.Ages at(int number) {
    int site = SampledObject.arrayIndex(number);
    return site < oldest.length && !Double.isNaN(oldest[site])
        ? new CallSite.Ages(median[site], ninetyPercent[site], oldest[site])
        : CallSite.Ages.UNKNOWN;
  }

  private void pass(int site, double passed, double total, double age) {
    if (passed >= 0.5 * total && Double.isNaN(median[site])) {
      median[site] = age;
    }
    if (passed >= 0.9 * total && Double.isNaN(ninetyPercent[site])) {
      ninetyPercent[site] = age;
    }
    oldest[site] = age;
  }

  private static double[] unknown(int sites) {
    double[] ages = new double[sites];
    Arrays.fill(ages, Double.NaN);
    return ages;
  }

  private static long age(ByteBuffer objects, int index, long now) {
    return Math.max(0, now - objects.getLong(offset(index) + Abi.Object.BORN_NS_AT));
  }

  private static int offset(int index) {
    return index * Abi.Object.BYTES;
  }

  private static int site(ByteBuffer objects, int index) {
    return SampledObject.arrayIndex(objects.getInt(offset(index) + Abi.Object.SITE_AT));
  }

  private static double weight(ByteBuffer objects, int index) {
    double probability = objects.getDouble(offset(index) + Abi.Object.PROBABILITY_AT);
    return objects.getLong(offset(index) + Abi.Object.BYTES_AT) / probability;
  }
}
