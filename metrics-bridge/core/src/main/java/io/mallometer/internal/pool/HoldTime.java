package io.mallometer.internal.pool;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.TreeSet;

/**
 * How long the buffers of one line are held, over the looks of the last hour.
 *
 * <p>Buffers are a suspect if they are held longer and longer: tracked ones arrive at three looks
 * or more, live for a minute or more, and hardly any of those is released. If the lifetimes had a
 * mean of half the time watched, three such buffers would all survive in 1 of 20 cases. A program
 * that fills a store at its start and then keeps it is none, because no buffer arrives any more.
 */
final class HoldTime {

  static final long MINUTE_NANOS = 60_000_000_000L;

  /** The fewest late buffers, and the fewest looks at which they arrived. */
  static final int FEWEST = 3;

  /** The shortest age of the oldest buffer. */
  static final long SHORTEST_NANOS = 3 * MINUTE_NANOS;

  private static final long WINDOW_NANOS = 60 * MINUTE_NANOS;

  /** The largest share of late buffers that were released. */
  private static final double MOST_RELEASED = 0.05;

  /** Arrivals ended if none came for this many mean gaps; by chance in 1 of 55 cases. */
  private static final double LONGEST_GAP = 4;

  private final Deque<Long> releasedLate = new ArrayDeque<>();

  /** Adds the buffers that were released since the last look. */
  void released(List<TrackedBuffer> released, long now) {
    for (TrackedBuffer buffer : released) {
      if (buffer.lastLook() - buffer.firstSeen() >= MINUTE_NANOS) {
        releasedLate.add(now);
      }
    }
    while (!releasedLate.isEmpty() && now - releasedLate.peek() > WINDOW_NANOS) {
      releasedLate.remove();
    }
  }

  /** Returns the number of buffers that were released late. */
  int releasedLate() {
    return releasedLate.size();
  }

  /** Returns the number of live buffers that were watched for a minute. */
  static int late(List<TrackedBuffer> live, long now) {
    return (int) live.stream().filter(buffer -> now - buffer.firstSeen() >= MINUTE_NANOS).count();
  }

  /**
   * Returns whether the buffers are held longer and longer.
   *
   * @param live the live ones
   * @param firstLook the time of the first look, whose buffers may be of any age
   */
  boolean grows(List<TrackedBuffer> live, long firstLook, long now) {
    int late = late(live, now);
    TreeSet<Long> arrivals = new TreeSet<>();
    for (TrackedBuffer buffer : live) {
      if (buffer.firstSeen() != firstLook) {
        arrivals.add(buffer.firstSeen() - now);
      }
    }
    if (late < FEWEST || arrivals.size() < FEWEST || -arrivals.first() < SHORTEST_NANOS) {
      return false;
    }
    double gap = (double) (arrivals.last() - arrivals.first()) / (arrivals.size() - 1);
    boolean arriving = -arrivals.last() <= LONGEST_GAP * gap;
    return arriving && releasedLate.size() <= MOST_RELEASED * (late + releasedLate.size());
  }

  /** Returns whether nothing is known of the line any more. */
  boolean isEmpty() {
    return releasedLate.isEmpty();
  }
}
