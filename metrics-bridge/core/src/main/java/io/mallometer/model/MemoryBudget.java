package io.mallometer.model;

import java.util.List;

/**
 * Memory that this process may need by its configuration, against the limit that somebody set.
 *
 * @param lines the table
 * @param totalBytes the sum of the lines
 * @param limitBytes the stated limit or the cgroup's, as {@link ProcessMemory#setLimit()} returns
 *     it; {@code NaN} without one
 * @param verdict the result in one sentence
 */
public record MemoryBudget(List<Line> lines, double totalBytes, double limitBytes, String verdict) {

  /**
   * One claim on memory.
   *
   * @param item what claims it, such as {@code java_heap}
   * @param bytes how much it may take
   * @param basis where the figure comes from: {@code configured}, or {@code measured} for what has
   *     no bound of its own
   * @param detail the setting, or what was measured
   */
  public record Line(String item, long bytes, String basis, String detail) {}

  public MemoryBudget {
    lines = List.copyOf(lines);
  }

  /** The limit without the total: negative if it is too small; {@code NaN} without a limit. */
  public double headroomBytes() {
    return limitBytes - totalBytes;
  }
}
