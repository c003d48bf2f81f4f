package io.mallometer.internal.leak.evidence;

import java.util.List;

/**
 * The latest search of the process's memory for the addresses of sampled objects.
 *
 * @param reason why the search failed; empty otherwise
 * @param number 1 for the first search of the process; 0 without a search
 * @param unreadThreads the number of threads whose registers could not be read, and may contain
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

  public enum State {
    NONE,
    RUNNING,
    DONE,
    FAILED
  }

  /**
   * The time of a search. Moments are by {@link System#nanoTime()}.
   *
   * @param endedNanos 0 while it runs
   */
  public record Effort(long beganNanos, long endedNanos, double cpuSeconds) {}

  /**
   * The memory that a search read. Memory that the search did not read may also contain addresses.
   *
   * @param residentBytes the writable resident bytes
   * @param swappedBytes the bytes that were not read because they are swapped out
   */
  public record Coverage(long searchedBytes, long residentBytes, long swappedBytes) {}

  public MemorySearch {
    objects = List.copyOf(objects);
  }

  public static MemorySearch none(String reason) {
    return new MemorySearch(
        State.NONE, reason, 0, new Effort(0, 0, 0), new Coverage(0, 0, 0), 0, List.of());
  }
}
