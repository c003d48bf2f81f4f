package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.SampledObject;
import java.util.Arrays;
import java.util.List;

/**
 * The live samples of each site: one array in which those of a site stand side by side, in the
 * order in which they were, and where each site's begin. Immutable.
 */
final class SamplesBySite {

  private static final double NANOS = 1e9;

  private final List<SampledObject> samples;

  /** By the place of a site; one more says where the last site's end. */
  private final int[] begins;

  SamplesBySite(List<SampledObject> objects) {
    int places = 0;
    for (SampledObject object : objects) {
      places = Math.max(places, 1 + SampledObject.placeOf(object.site()));
    }
    int[] ends = new int[places + 1];
    for (SampledObject object : objects) {
      ends[SampledObject.placeOf(object.site())]++;
    }
    for (int place = 1; place <= places; place++) {
      ends[place] += ends[place - 1];
    }
    SampledObject[] sorted = new SampledObject[ends[places]];
    for (int i = objects.size() - 1; i >= 0; i--) {
      SampledObject object = objects.get(i);
      sorted[--ends[SampledObject.placeOf(object.site())]] = object;
    }
    // Each end has moved to where its site begins.
    this.begins = ends;
    this.samples = Arrays.asList(sorted);
  }

  /** Those of a site. */
  List<SampledObject> of(int site) {
    int place = SampledObject.placeOf(site);
    return has(site) ? samples.subList(begins[place], begins[place + 1]) : List.of();
  }

  /** Whether a site has any. */
  boolean has(int site) {
    int place = SampledObject.placeOf(site);
    return place < begins.length - 1
        && begins[place] < begins[place + 1]
        && samples.get(begins[place]).site() == site;
  }

  /** The bytes that the samples of each site stand for, by place. */
  float[] bytes() {
    float[] bytes = new float[begins.length - 1];
    for (SampledObject object : samples) {
      bytes[SampledObject.placeOf(object.site())] += object.weight() * object.bytes();
    }
    return bytes;
  }

  /**
   * Returns the variance of {@link #bytes()}, by place.
   *
   * @param bornBy the moment, in seconds by {@link System#nanoTime()}, after which a sample was
   *     born that does not count
   */
  float[] variances(double bornBy) {
    float[] variances = new float[begins.length - 1];
    for (SampledObject object : samples) {
      if (object.bornNanos() <= bornBy * NANOS) {
        double weight = object.weight();
        variances[SampledObject.placeOf(object.site())] +=
            weight * (weight - 1) * object.bytes() * object.bytes();
      }
    }
    return variances;
  }

  /** Whether the use of any of a site is seen. */
  boolean anyInSlot(int site) {
    return of(site).stream().anyMatch(SampledObject::inSlot);
  }
}
