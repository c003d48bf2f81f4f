package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.PreviousRun;
import java.util.Optional;

/**
 * Answer of {@code nativememory/recording}: the file that outlives the process, and the end of the
 * previous run.
 *
 * @param file the recording of this run
 * @param previousRun the end of the previous run; empty if no file tells it
 */
public record RecordingView(HistoryView.RecordingState file, Optional<PreviousRun> previousRun)
    implements View {

  static RecordingView of(Mallometer mallometer) {
    return new RecordingView(
        HistoryView.RecordingState.of(mallometer.history().recording()),
        mallometer.history().previousRun());
  }
}
