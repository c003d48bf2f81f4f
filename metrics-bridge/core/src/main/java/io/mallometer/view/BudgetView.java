package io.mallometer.view;

import io.mallometer.model.MemoryBudget;
import io.mallometer.model.ProcessMemory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answer of {@code nativememory/budget}: the memory that the configuration may need, against the
 * limit that somebody set. Before the first split everything is unknown.
 *
 * @param verdict the result in one sentence
 * @param limitBytes the limit; {@code NaN} without one
 * @param totalBytes the sum of the lines
 * @param headroomBytes limit without total, negative if it is too small; {@code NaN} without a
 *     limit
 * @param lines the table
 */
public record BudgetView(
    @Nullable String verdict,
    @Whole double limitBytes,
    @Whole double totalBytes,
    @Whole double headroomBytes,
    List<MemoryBudget.Line> lines)
    implements View {

  static BudgetView of(ProcessMemory memory) {
    return memory
        .budget()
        .map(BudgetView::of)
        .orElseGet(() -> new BudgetView(null, Double.NaN, Double.NaN, Double.NaN, List.of()));
  }

  private static BudgetView of(MemoryBudget budget) {
    return new BudgetView(
        budget.verdict(),
        budget.limitBytes(),
        budget.totalBytes(),
        budget.headroomBytes(),
        budget.lines());
  }
}
