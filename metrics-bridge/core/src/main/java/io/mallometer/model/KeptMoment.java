package io.mallometer.model;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * A kind of moment whose call sites are stored, such as the peak. Only the latest moment of each
 * kind is stored.
 */
public enum KeptMoment {
  /** The poll with the most live bytes. */
  PEAK("peak", 0),
  /** The latest moment at which memory exceeded 85 % of its limit. */
  LIMIT_85("85", 85),
  /** The latest moment at which memory exceeded 90 % of its limit. */
  LIMIT_90("90", 90),
  /** The latest moment at which memory exceeded 95 % of its limit. */
  LIMIT_95("95", 95),
  /**
   * The latest poll at which live bytes exceeded the size of a {@link MonitorOptions#liveSize}
   * monitor. This moment is not stored in the recording.
   */
  LIVE_SIZE("live-size", 0);

  private final String id;
  private final int percent;

  KeptMoment(String id, int percent) {
    this.id = id;
    this.percent = percent;
  }

  /** Returns the kind of moment for this percentage of the limit; empty if there is none. */
  public static Optional<KeptMoment> ofPercent(int percent) {
    return Stream.of(values())
        .filter(moment -> moment.percent != 0 && moment.percent == percent)
        .findFirst();
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /**
   * Returns the threshold that memory exceeded at this moment, as a percentage of the memory limit;
   * 0 if the moment does not depend on the limit.
   */
  public int percent() {
    return percent;
  }

  /** Returns the moment in words, such as {@code at the peak} or {@code at 85 % of the limit}. */
  public String sentence() {
    return switch (this) {
      case PEAK -> "at the peak";
      case LIVE_SIZE -> "when live bytes exceeded the size of a monitor";
      default -> "at " + percent + " % of the limit";
    };
  }
}
