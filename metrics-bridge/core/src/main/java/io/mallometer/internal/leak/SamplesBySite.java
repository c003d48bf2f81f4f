package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.SampledObject;
import java.util.Arrays;
import java.util.List;

/**
 * The live samples of each site. One array contains all samples, sorted by site; another contains
 * the index of each site's first sample. Immutable.
 */
final class SamplesBySite {

  private static final double NANOS = 1e9;

  private final List<SampledObject> samples;

  /**
   * The index of each site's first sample, by the array index of the site. The last element is the
   * number of samples.
   */
  private final int[] begins;

  SamplesBySite(List<SampledObject> objects) {
    int places = 0;
    for (SampledObject object : objects) {
      places = Math.max(places, 1 + SampledObject.arrayIndex(object.site()));
    }
    int[] ends = new int[places + 1];
    for (SampledObject object : objects) {
      ends[SampledObject.arrayIndex(object.site())]++;
    }
    for (int place = 1; place <= places; place++) {
      ends[place] += ends[place - 1];
    }
    SampledObject[] sorted = new SampledObject[ends[places]];
    for (int i = objects.size() - 1; i >= 0; i--) {
      SampledObject object = objects.get(i);
      sorted[--ends[SampledObject.arrayIndex(object.site())]] = object;
    }
    // The loop has lowered each end to the index of the site's first sample.
    this.begins = ends;
    this.samples = Arrays.asList(sorted);
  }

  List<SampledObject> of(int site) {
    int place = SampledObject.arrayIndex(site);
    return has(site) ? samples.subList(begins[place], begins[place + 1]) : List.of();
  }

  boolean has(int site) {
    int place = SampledObject.arrayIndex(site);
    return place < begins.length - 1
        && begins[place] < begins[place + 1]
        && samples.get(begins[place]).site() == site;
  }

  float[] bytes() {
    float[] bytes = new float[begins.length - 1];
    for (SampledObject object : samples) {
      bytes[SampledObject.arrayIndex(object.site())] += object.weight() * object.bytes();
    }
    return bytes;
  }

  /**
   * Returns the variance of {@link #bytes()}, by the array index of the site.
   *
   * @param bornBy samples that were born later do not count; in seconds by {@link
   *     System#nanoTime()}
   */
  float[] variances(double bornBy) {
    float[] variances = new float[begins.length - 1];
    for (SampledObject object : samples) {
      if (object.bornNanos() <= bornBy * NANOS) {
        double weight = object.weight();
        variances[SampledObject.arrayIndex(object.site())] +=
            weight * (weight - 1) * object.bytes() * object.bytes();
      }
    }
    return variances;
  }

  boolean anyInSlot(int site) {
    for (SampledObject object : of(site)) {
      if (object.inSlot()) {
        return true;
      }
    }
    return false;
  }
}
