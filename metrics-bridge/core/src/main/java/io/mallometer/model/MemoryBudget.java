package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import java.util.List;

/** The memory that this process may need by its configuration, compared with its memory limit. */
public record MemoryBudget(
    @Figure("The table") List<Line> lines,
    @Figure(value = "The sum of the lines", unit = BYTES) double totalBytes,
    @Figure(value = "The stated limit or the cgroup's; " + "unknown without one", unit = BYTES)
        double limitBytes,
    @Figure("The result in one sentence") String verdict) {

  /** An item of the budget. */
  public record Line(
      @Figure("The item, such as java_heap") String item,
      @Figure(value = "How much it may take", unit = BYTES) long bytes,
      @Figure(
              "Where the figure comes from: configured, or measured for what has no bound "
                  + "of its own")
          String basis,
      @Figure("The setting, or what was measured") String detail,
      @Figure(
              value = "The most that the JVM lets it take, set or not; unknown without a bound",
              unit = BYTES)
          double maximumBytes) {}

  public MemoryBudget {
    lines = List.copyOf(lines);
  }

  /**
   * Returns the limit minus the total, which is negative if the limit is too small; {@code NaN}
   * without a limit.
   */
  @Figure(
      value = "The limit less the total of the lines; negative if the limit is too small",
      unit = BYTES)
  public double headroomBytes() {
    return limitBytes - totalBytes;
  }
}
