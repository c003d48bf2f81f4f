package io.mallometer.internal.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Tells when a share of the limit is crossed upwards, once for each time: a share that swings
 * around a threshold must fall five percent below it before it counts again.
 */
public final class Thresholds {

  private static final int[] PERCENT = {85, 90, 95};
  private static final double HYSTERESIS = 0.05;

  private final boolean[] crossed = new boolean[PERCENT.length];

  /** None is crossed yet. */
  public Thresholds() {}

  /** Whether a share would cross a threshold newly. */
  boolean wouldCross(double share) {
    for (int i = 0; i < PERCENT.length; i++) {
      if (share >= PERCENT[i] / 100.0 && !crossed[i]) {
        return true;
      }
    }
    return false;
  }

  /**
   * The thresholds that are newly crossed, in percent, lowest first.
   *
   * @param share of the limit, 0 to 1; {@code NaN} crosses nothing
   */
  public List<Integer> crossedBy(double share) {
    List<Integer> newly = new ArrayList<>();
    for (int i = 0; i < PERCENT.length; i++) {
      double threshold = PERCENT[i] / 100.0;
      if (share >= threshold && !crossed[i]) {
        crossed[i] = true;
        newly.add(PERCENT[i]);
      } else if (share < threshold - HYSTERESIS) {
        crossed[i] = false;
      }
    }
    return newly;
  }
}
