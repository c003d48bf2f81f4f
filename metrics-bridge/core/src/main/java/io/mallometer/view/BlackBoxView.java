package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.PreviousRun;
import java.util.Optional;

/**
 * What {@code nativememory/blackbox} answers: the file that outlives the process, and how the life
 * before this one ended.
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
