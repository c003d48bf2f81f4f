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
 * @param counted the exact counters of about the same moment
 */
public record Evidence(
    long nanos,
    Observation observation,
    List<SampledObject> objects,
    Map<Integer, SiteUse> sites,
    Counted counted) {

  /**
   * Exact bytes, in the unit of {@link SampledObject#bytes()}.
   *
   * @param netBytes allocated less freed bytes since counting began
   * @param mostBeforeBytes the most that can have been live when counting began; 0 if it began with
   *     the process
   */
  public record Counted(double netBytes, double mostBeforeBytes) {

    /** No object is older than the counting. */
    public static final Counted FROM_START = new Counted(0, 0);
  }

  /** Creates evidence of a process that was counted from its start. */
  public Evidence(
      long nanos,
      Observation observation,
      List<SampledObject> objects,
      Map<Integer, SiteUse> sites) {
    this(nanos, observation, objects, sites, Counted.FROM_START);
  }

  public Evidence {
    objects = List.copyOf(objects);
    sites = Map.copyOf(sites);
  }

  /** Nothing is known, and why. */
  public static Evidence none(long nanos, String reason) {
    return new Evidence(nanos, Observation.off(reason), List.of(), Map.of());
  }
}
