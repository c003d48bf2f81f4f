package io.mallometer.internal.leak.evidence;

import java.util.List;

/**
 * The latest search of the process's memory for the addresses of sampled objects. Moments are by
 * {@link System#nanoTime()}.
 *
 * @param state the state
 * @param reason the reason why the search failed; empty otherwise
 * @param number the number of the search: 1 for the first of the process; 0 without a search
 * @param effort the time that the search took
 * @param coverage the memory that it read
 * @param unreadThreads the number of threads whose registers could not be read and may contain
 *     addresses; negative if unknown
 * @param objects the objects that were searched for; empty until the search is done
 */
public record MemorySearch(
    State state,
    String reason,
    int number,
    Effort effort,
    Coverage coverage,
    int unreadThreads,
    List<SearchedObject> objects) {

  /** State of a search. */
  public enum State {
    /** No search was started. */
    NONE,
    /** The search runs. */
    RUNNING,
    /** The search has ended with a result. */
    DONE,
    /** The search has ended without a result. */
    FAILED
  }

  /**
   * The time of a search.
   *
   * @param beganNanos the moment at which it began
   * @param endedNanos the moment at which it ended; 0 while it runs
   * @param cpuSeconds its CPU time
   */
  public record Effort(long beganNanos, long endedNanos, double cpuSeconds) {}

  /**
   * The memory that a search read.
   *
   * @param searchedBytes the bytes that were read
   * @param residentBytes the writable resident bytes. If more than a few pages of them were not
   *     read, addresses may lie in the rest
   * @param swappedBytes the bytes that were not read because they are swapped out; addresses may
   *     lie in them
   */
  public record Coverage(long searchedBytes, long residentBytes, long swappedBytes) {}

  public MemorySearch {
    objects = List.copyOf(objects);
  }

  /** Returns the state without a search, with the reason why there is none. */
  public static MemorySearch none(String reason) {
    return new MemorySearch(
        State.NONE, reason, 0, new Effort(0, 0, 0), new Coverage(0, 0, 0), 0, List.of());
  }
}
