package io.mallometer.internal.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds when the used share of the limit exceeds a threshold. A threshold counts again only after
 * the share has fallen below it by more than 5 % of the limit.
 */
public final class LimitShares {

  private static final int[] PERCENT = {85, 90, 95};
  private static final double HYSTERESIS = 0.05;

  private final boolean[] exceeded = new boolean[PERCENT.length];

  public LimitShares() {}

  boolean wouldExceed(double share) {
    for (int i = 0; i < PERCENT.length; i++) {
      if (share >= PERCENT[i] / 100.0 && !exceeded[i]) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the thresholds that are newly exceeded, in percent, lowest first.
   *
   * @param share of the limit, 0 to 1; {@code NaN} exceeds nothing
   */
  public List<Integer> exceededBy(double share) {
    List<Integer> newly = new ArrayList<>();
    for (int i = 0; i < PERCENT.length; i++) {
      double threshold = PERCENT[i] / 100.0;
      if (share >= threshold && !exceeded[i]) {
        exceeded[i] = true;
        newly.add(PERCENT[i]);
      } else if (share < threshold - HYSTERESIS) {
        exceeded[i] = false;
      }
    }
    return newly;
  }
}
