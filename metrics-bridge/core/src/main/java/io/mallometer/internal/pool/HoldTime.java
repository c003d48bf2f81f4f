package io.mallometer.internal.pool;

import java.util.List;
import java.util.TreeSet;

/**
 * Judges whether the application holds the buffers of one line of code longer and longer, from the
 * readings of the last hour.
 *
 * <p>A buffer becomes late when it has been live for a minute. The buffers are a suspect if the
 * number of late buffers rises, and the rise exceeds twice its standard error. The rise is the
 * number of buffers that became late, minus the number of late buffers that were released.
 *
 * <p>Both numbers are taken from the later half of the time since the first late buffer. A program
 * that keeps each buffer for the same time, or only fills a store at its start, is therefore not a
 * suspect for long.
 */
final class HoldTime {

  static final long MINUTE_NANOS = 60_000_000_000L;

  /** A suspect's live buffers must have arrived in at least this many different readings. */
  private static final int FEWEST = 3;

  /**
   * A suspect must have a live buffer that is at least this old and was new when a reading found
   * it.
   */
  private static final long SHORTEST_NANOS = 3 * MINUTE_NANOS;

  private static final int WINDOW_MINUTES = 60;

  /**
   * Buffers are a suspect only if the number of late buffers (live for a minute) has risen by more
   * than this many standard errors.
   */
  private static final double LEAST_ERRORS = 2;

  /**
   * Buffers have stopped arriving if none came for this many mean gaps between arrivals. Chance
   * alone causes such a pause in 1 of 55 cases.
   */
  private static final double LONGEST_GAP = 4;

  private final int[] late = new int[WINDOW_MINUTES];
  private final int[] released = new int[WINDOW_MINUTES];
  private long minute = Long.MIN_VALUE;
  private long firstLate = Long.MAX_VALUE;

  void add(List<TrackedBuffer> live, List<TrackedBuffer> gone, long now) {
    advance(now);
    int slot = (int) Math.floorMod(minute, (long) WINDOW_MINUTES);
    for (TrackedBuffer buffer : live) {
      if (buffer.arrived() && buffer.age(now) >= MINUTE_NANOS && buffer.countLate()) {
        late[slot]++;
        firstLate = Math.min(firstLate, minute);
      }
    }
    for (TrackedBuffer buffer : gone) {
      if (buffer.seenFor() >= MINUTE_NANOS) {
        released[slot]++;
      }
    }
  }

  /**
   * Clears the counts of the minutes since the last reading. Their array elements still have the
   * counts of an hour before.
   */
  private void advance(long now) {
    long present = Math.floorDiv(now, MINUTE_NANOS);
    long first = Math.max(minute, present - WINDOW_MINUTES);
    for (long next = first + 1; next <= present; next++) {
      int slot = (int) Math.floorMod(next, (long) WINDOW_MINUTES);
      late[slot] = 0;
      released[slot] = 0;
    }
    minute = present;
  }

  /** Returns the number of buffers that became late (live for a minute) in the last hour. */
  int late() {
    return sum(late, WINDOW_MINUTES);
  }

  int releasedLate() {
    return sum(released, WINDOW_MINUTES);
  }

  private int sum(int[] counts, long minutes) {
    int sum = 0;
    for (long past = 0; past < minutes; past++) {
      sum += counts[(int) Math.floorMod(minute - past, (long) WINDOW_MINUTES)];
    }
    return sum;
  }

  private boolean rises() {
    if (firstLate > minute) {
      return false;
    }
    long half = Math.min(WINDOW_MINUTES, (minute - firstLate) / 2 + 1);
    double more = sum(late, half);
    double fewer = sum(released, half);
    return more - fewer > LEAST_ERRORS * Math.sqrt(more + fewer);
  }

  boolean grows(List<TrackedBuffer> live, long now) {
    TreeSet<Long> arrivals = new TreeSet<>();
    for (TrackedBuffer buffer : live) {
      if (buffer.arrived()) {
        arrivals.add(-buffer.age(now));
      }
    }
    if (arrivals.size() < FEWEST || -arrivals.first() < SHORTEST_NANOS) {
      return false;
    }
    double gap = (double) (arrivals.last() - arrivals.first()) / (arrivals.size() - 1);
    boolean arriving = -arrivals.last() <= LONGEST_GAP * gap;
    return arriving && rises();
  }

  /**
   * Returns the age, in nanoseconds, of the oldest live buffer that was new when a reading found
   * it; 0 if there is none.
   */
  static long oldestArrived(List<TrackedBuffer> live, long now) {
    return live.stream()
        .filter(TrackedBuffer::arrived)
        .mapToLong(buffer -> buffer.age(now))
        .max()
        .orElse(0);
  }

  boolean isEmpty() {
    return late() == 0 && releasedLate() == 0;
  }
}
