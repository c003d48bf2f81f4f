package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.Figure;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.TerminationMessage;
import java.util.Optional;

/** The answer of {@code nativememory/recording}: the recording, and the end of the previous run. */
public record RecordingView(
    @Figure("The file that outlives the process") RecordingStatus file,
    @Figure("The message that Kubernetes shows if the process is killed")
        TerminationMessage message,
    @Figure("The previous run; absent if none is recorded") Optional<PreviousRun> previousRun)
    implements View {

  static RecordingView of(Mallometer mallometer) {
    Mallometer.History history = mallometer.history();
    return new RecordingView(
        history.recording(), history.terminationMessage(), history.previousRun());
  }
}
