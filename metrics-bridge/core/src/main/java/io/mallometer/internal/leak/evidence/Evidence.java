package io.mallometer.internal.leak.evidence;

import io.mallometer.model.Observation;
import java.util.List;
import java.util.Map;

/**
 * A snapshot of what is known about accesses to sampled objects. Immutable.
 *
 * @param nanos the moment, by {@link System#nanoTime()}
 * @param objects the live samples
 * @param sites the use of each call site's objects, by the site's number
 * @param counted the exact counters, read just before the samples
 * @param cleaning the garbage collections, and the samples that were freed after them
 */
public record Evidence(
    long nanos,
    Observation observation,
    List<SampledObject> objects,
    Map<Integer, SiteUse> sites,
    Counted counted,
    Cleaning cleaning) {

  /**
   * The exact counters of the process, in the unit of {@link SampledObject#bytes()}.
   *
   * @param netBytes the bytes allocated minus the bytes freed since counting began
   * @param mostBeforeBytes the most bytes that can have been live when counting began; 0 if
   *     counting began with the process
   */
  public record Counted(double netBytes, double mostBeforeBytes) {

    public static final Counted FROM_START = new Counted(0, 0);
  }

  public Evidence(
      long nanos,
      Observation observation,
      List<SampledObject> objects,
      Map<Integer, SiteUse> sites) {
    this(nanos, observation, objects, sites, Counted.FROM_START, Cleaning.none(""));
  }

  public Evidence(
      long nanos,
      Observation observation,
      List<SampledObject> objects,
      Map<Integer, SiteUse> sites,
      Counted counted) {
    this(nanos, observation, objects, sites, counted, Cleaning.none(""));
  }

  public Evidence {
    objects = List.copyOf(objects);
    sites = Map.copyOf(sites);
  }

  public static Evidence none(long nanos, String reason) {
    return new Evidence(nanos, Observation.off(reason), List.of(), Map.of());
  }
}
