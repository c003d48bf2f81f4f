package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.PreviousRun;
import java.util.Optional;

/**
 * Answer of {@code nativememory/blackbox}: the file that outlives the process, and the end of the
 * previous run.
 *
 * @param record the file
 * @param lastLife the life before; empty if none is recorded
 */
public record BlackBoxView(HistoryView.BlackBox record, Optional<PreviousRun> lastLife)
    implements View {

  static BlackBoxView of(Mallometer mallometer) {
    return new BlackBoxView(
        HistoryView.BlackBox.of(mallometer.history().recording()),
        mallometer.history().previousRun());
  }
}
