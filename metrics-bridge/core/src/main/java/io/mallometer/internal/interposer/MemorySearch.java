package io.mallometer.internal.interposer;

import java.util.List;

/**
 * The latest search of the process's memory for the addresses of sampled objects. Moments are by
 * {@link System#nanoTime()}.
 *
 * @param state whether it has ended, and how
 * @param reason why it failed; empty otherwise
 * @param number 1 for the process's first; 0 if there was none
 * @param beganNanos when it began
 * @param endedNanos when it ended; 0 while it runs
 * @param cpuSeconds processor time that it took
 * @param searchedBytes what was read
 * @param residentBytes what was to be read: writable, and in memory. Where more than a few pages
 *     were not, addresses may lie in the rest
 * @param swappedBytes what could not be read because it is swapped out; addresses may lie in it
 * @param leftOut live samples of the call sites for which there was no room
 * @param objects the objects, once the search is done
 */
public record MemorySearch(
    State state,
    String reason,
    int number,
    long beganNanos,
    long endedNanos,
    double cpuSeconds,
    long searchedBytes,
    long residentBytes,
    long swappedBytes,
    int leftOut,
    List<SoughtObject> objects) {

  /** How far a search is. */
  public enum State {
    /** None was started. */
    NONE,
    /** It goes on. */
    RUNNING,
    /** It has ended, with a result. */
    DONE,
    /** It has ended without one. */
    FAILED
  }

  public MemorySearch {
    objects = List.copyOf(objects);
  }

  /** No search, and why. */
  static MemorySearch none(String reason) {
    return new MemorySearch(State.NONE, reason, 0, 0, 0, 0, 0, 0, 0, 0, List.of());
  }
}
