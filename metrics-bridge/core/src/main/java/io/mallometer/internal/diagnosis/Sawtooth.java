package io.mallometer.internal.diagnosis;

import io.mallometer.model.HistoryPoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The swings of memory that rises and falls back, such as the memory of buffers that wait for a
 * garbage collection. A swing counts if it exceeds both 8 MiB and half of the memory's range in the
 * last ten minutes. Swings are measured on averages over 30 s. A single high average is ignored.
 *
 * @param falls the number of falls in the last ten minutes
 * @param troughs the lowest point between each fall and the next rise
 */
record Sawtooth(int falls, List<HistoryPoint> troughs) {

  private static final double HALF = 0.5;
  private static final double LEAST_BYTES = 8 << 20;
  private static final Duration WINDOW = Duration.ofMinutes(10);
  private static final Duration BLOCK = Duration.ofSeconds(30);

  private record Block(double mean, HistoryPoint lowest) {}

  /**
   * Returns the swings of an amount of memory.
   *
   * @param points the points, oldest first
   */
  static Sawtooth of(List<HistoryPoint> points, ToDoubleFunction<HistoryPoint> figure) {
    List<Block> blocks = blocks(points, figure);
    double[] levels = new double[blocks.size()];
    int recent = 0;
    while (recent < levels.length
        && blocks.get(recent).lowest().time().isBefore(lastTime(points).minus(WINDOW))) {
      recent++;
    }
    double lowest = Double.POSITIVE_INFINITY;
    double highest = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < levels.length; i++) {
      double before = blocks.get(Math.max(0, i - 1)).mean();
      double after = blocks.get(Math.min(levels.length - 1, i + 1)).mean();
      levels[i] = Math.min(blocks.get(i).mean(), Math.max(before, after));
      lowest = i < recent ? lowest : Math.min(lowest, levels[i]);
      highest = i < recent ? highest : Math.max(highest, levels[i]);
    }
    double least = Math.max(LEAST_BYTES, HALF * (highest - lowest));
    List<HistoryPoint> troughs = new ArrayList<>();
    int falls = 0;
    boolean falling = false;
    int extreme = 0;
    for (int i = 1; i < levels.length; i++) {
      double back = falling ? levels[i] - levels[extreme] : levels[extreme] - levels[i];
      if (back < 0) {
        extreme = i;
      } else if (back > least) {
        if (falling) {
          troughs.add(blocks.get(extreme).lowest());
        } else {
          falls += extreme >= recent ? 1 : 0;
        }
        falling = !falling;
        extreme = i;
      }
    }
    return new Sawtooth(falls, troughs);
  }

  private static Instant lastTime(List<HistoryPoint> points) {
    return points.get(points.size() - 1).time();
  }

  private static List<Block> blocks(
      List<HistoryPoint> points, ToDoubleFunction<HistoryPoint> figure) {
    List<Block> blocks = new ArrayList<>();
    for (int from = 0, to; from < points.size(); from = to) {
      Instant end = points.get(from).time().plus(BLOCK);
      to = from + 1;
      while (to < points.size() && points.get(to).time().isBefore(end)) {
        to++;
      }
      List<HistoryPoint> within = points.subList(from, to);
      blocks.add(
          new Block(
              within.stream().mapToDouble(figure).average().orElseThrow(),
              within.stream().min(Comparator.comparingDouble(figure)).orElseThrow()));
    }
    return blocks;
  }
}
