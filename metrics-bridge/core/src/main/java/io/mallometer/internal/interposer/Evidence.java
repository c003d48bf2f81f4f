package io.mallometer.internal.interposer;

import io.mallometer.model.Observation;
import java.util.List;
import java.util.Map;

/**
 * All that is known of the use of objects at one moment, immutable.
 *
 * @param nanos the moment, by {@link System#nanoTime()}
 * @param observation how the observation goes
 * @param objects the live samples
 * @param sites what is known of the use of call sites' objects, by their number
 */
public record Evidence(
    long nanos, Observation observation, List<SampledObject> objects, Map<Integer, SiteUse> sites) {

  public Evidence {
    objects = List.copyOf(objects);
    sites = Map.copyOf(sites);
  }

  /** Nothing is known, and why. */
  public static Evidence none(long nanos, String reason) {
    return new Evidence(nanos, Observation.off(reason), List.of(), Map.of());
  }
}
