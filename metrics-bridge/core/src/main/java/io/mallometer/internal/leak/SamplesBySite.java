package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.SampledObject;
import java.util.Arrays;
import java.util.List;

/**
 * The live samples of each site: one array in which those of a site stand side by side, in the
 * order in which they were, and where each site's begin. Immutable.
 */
final class SamplesBySite {

  /**
   * The library numbers sites from 0 on, and knows 16,384 of them. A number that is not below this
   * is no site's, so that no number makes an array large.
   */
  static final int NUMBERS = 1 << 16;

  private static final double NANOS = 1e9;

  private final List<SampledObject> samples;

  /** By number; one more says where the last site's end. */
  private final int[] begins;

  SamplesBySite(List<SampledObject> objects) {
    int numbers = 0;
    for (SampledObject object : objects) {
      numbers = isNumber(object.site()) ? Math.max(numbers, object.site() + 1) : numbers;
    }
    int[] ends = new int[numbers + 1];
    for (SampledObject object : objects) {
      if (isNumber(object.site())) {
        ends[object.site()]++;
      }
    }
    for (int number = 1; number <= numbers; number++) {
      ends[number] += ends[number - 1];
    }
    SampledObject[] sorted = new SampledObject[ends[numbers]];
    for (int i = objects.size() - 1; i >= 0; i--) {
      SampledObject object = objects.get(i);
      if (isNumber(object.site())) {
        sorted[--ends[object.site()]] = object;
      }
    }
    // Each end has moved to where its site begins.
    this.begins = ends;
    this.samples = Arrays.asList(sorted);
  }

  static boolean isNumber(int site) {
    return site >= 0 && site < NUMBERS;
  }

  /** Those of a site. */
  List<SampledObject> of(int site) {
    return has(site) ? samples.subList(begins[site], begins[site + 1]) : List.of();
  }

  /** Whether a site has any. */
  boolean has(int site) {
    return site >= 0 && site < begins.length - 1 && begins[site] < begins[site + 1];
  }

  /** The bytes that the samples of each site stand for, by number. */
  float[] bytes() {
    float[] bytes = new float[begins.length - 1];
    for (SampledObject object : samples) {
      bytes[object.site()] += object.weight() * object.bytes();
    }
    return bytes;
  }

  /**
   * Returns the variance of {@link #bytes()}, by number.
   *
   * @param bornBy the moment, in seconds by {@link System#nanoTime()}, after which a sample was
   *     born that does not count
   */
  float[] variances(double bornBy) {
    float[] variances = new float[begins.length - 1];
    for (SampledObject object : samples) {
      if (object.bornNanos() <= bornBy * NANOS) {
        double weight = object.weight();
        variances[object.site()] += weight * (weight - 1) * object.bytes() * object.bytes();
      }
    }
    return variances;
  }

  /** Whether the use of any of a site is seen. */
  boolean anyInSlot(int site) {
    if (!has(site)) {
      return false;
    }
    for (int i = begins[site]; i < begins[site + 1]; i++) {
      if (samples.get(i).inSlot()) {
        return true;
      }
    }
    return false;
  }
}
