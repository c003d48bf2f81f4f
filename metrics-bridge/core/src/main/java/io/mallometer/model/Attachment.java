package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import io.mallometer.internal.text.HumanText;
import java.util.ArrayList;
import java.util.List;

/** The result of an attach to a running process. */
public record Attachment(
    @Figure(value = "Pointers to malloc and its relatives that lead to mallometer", unit = COUNT)
        int words,
    @Figure(
            value = "Pointers that the system did not let change, whose calls are not counted",
            unit = COUNT)
        int wordsRefused,
    @Figure(
            value = "Places from which the program calls malloc past all such pointers",
            unit = COUNT)
        int callsUnseen,
    @Figure(value = "The time that threads that load libraries had to wait", unit = SECONDS)
        double lockSeconds,
    @Figure(
            value =
                "The live bytes that glibc reports less those counted; 0 before the first "
                    + "comparison",
            unit = BYTES)
        double driftBytes,
    @Figure(
            value =
                "The largest normal difference: the errors of both readings, and the memory that"
                    + " glibc and the loader allocate for threads; 0 before the first comparison",
            unit = BYTES)
        double driftBoundBytes) {

  @Figure("Calls that are known to be missed, in words; empty if there are none")
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
              + HumanText.bytes(Math.abs(driftBytes))
              + " from those counted");
    }
    return String.join(", ", gaps);
  }

  private boolean drifts() {
    return driftBytes != 0 && !(Math.abs(driftBytes) <= driftBoundBytes);
  }

  @Figure("Whether no call is known to be missed")
  public boolean complete() {
    return wordsRefused == 0 && callsUnseen == 0 && !drifts();
  }
}
