package io.mallometer.view;

import io.mallometer.model.MemoryBudget;
import io.mallometer.model.ProcessMemory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code nativememory/budget} answers: what the configuration may come to need against the
 * cgroup's limit. Before the first split everything is null or empty.
 *
 * @param verdict what follows, one sentence
 * @param limitBytes the limit; null without one
 * @param totalBytes the sum of the lines
 * @param headroomBytes limit without total, negative if it is too small; null without a limit
 * @param lines the table
 */
public record BudgetView(
    @Nullable String verdict,
    @Nullable Long limitBytes,
    @Nullable Long totalBytes,
    @Nullable Long headroomBytes,
    List<Line> lines)
    implements View {

  /**
   * One claim on memory.
   *
   * @param item what claims it
   * @param bytes how much it may take
   * @param basis {@code configured} or {@code measured}
   * @param detail the setting, or what was measured
   */
  public record Line(String item, long bytes, String basis, String detail) {

    private static Line of(MemoryBudget.Line line) {
      return new Line(line.item(), line.bytes(), line.basis(), line.detail());
    }
  }

  static BudgetView of(ProcessMemory memory) {
    return memory
        .budget()
        .map(BudgetView::of)
        .orElseGet(() -> new BudgetView(null, null, null, null, List.of()));
  }

  private static BudgetView of(MemoryBudget budget) {
    return new BudgetView(
        budget.verdict(),
        NativeMemoryView.wholeOrNull(budget.limitBytes()),
        NativeMemoryView.wholeOrNull(budget.totalBytes()),
        NativeMemoryView.wholeOrNull(budget.headroomBytes()),
        budget.lines().stream().map(Line::of).toList());
  }
}
