package io.mallometer.model;

import io.mallometer.internal.text.Words;
import java.util.ArrayList;
import java.util.List;

/**
 * Result of an attach to a running process.
 *
 * @param words pointers to malloc and its relatives that lead to mallometer
 * @param wordsRefused pointers that the system did not let change, whose calls are not counted
 * @param callsUnseen places from which the program calls malloc past all such pointers
 * @param lockSeconds the time that threads that load libraries had to wait
 * @param driftBytes the live bytes that glibc reports less those counted; 0 before the first
 *     comparison
 * @param driftBoundBytes the largest normal difference: the errors of both readings, and the memory
 *     that glibc and the loader allocate for threads; 0 before the first comparison
 */
public record Attachment(
    int words,
    int wordsRefused,
    int callsUnseen,
    double lockSeconds,
    double driftBytes,
    double driftBoundBytes) {

  /** Returns the calls that are known to be missed, in words; empty if there are none. */
  public String gaps() {
    if (complete()) {
      return "";
    }
    List<String> gaps = new ArrayList<>();
    if (wordsRefused > 0) {
      gaps.add(wordsRefused + " pointers to malloc could not be changed");
    }
    if (callsUnseen > 0) {
      gaps.add(callsUnseen + " calls of malloc are not seen");
    }
    if (drifts()) {
      gaps.add(
          "the live bytes that glibc reports differ by "
              + Words.bytes(Math.abs(driftBytes))
              + " from those counted");
    }
    return String.join(", ", gaps);
  }

  private boolean drifts() {
    return driftBytes != 0 && !(Math.abs(driftBytes) <= driftBoundBytes);
  }

  /** Returns whether no call is known to be missed. */
  public boolean complete() {
    return wordsRefused == 0 && callsUnseen == 0 && !drifts();
  }
}
