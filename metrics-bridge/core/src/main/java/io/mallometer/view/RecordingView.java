package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.Figure;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import java.util.Optional;

/** Answer of {@code nativememory/recording}: the recording, and the end of the previous run. */
public record RecordingView(
    @Figure("The file that outlives the process") RecordingStatus file,
    @Figure("The previous run; absent if none is recorded") Optional<PreviousRun> previousRun)
    implements View {

  static RecordingView of(Mallometer mallometer) {
    return new RecordingView(mallometer.history().recording(), mallometer.history().previousRun());
  }
}
