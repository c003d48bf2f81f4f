package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.Figure;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.Recording;
import java.util.Optional;

/** Answer of {@code nativememory/blackbox}: the recording, and the end of the previous run. */
public record BlackBoxView(
    @Figure("The file that outlives the process") Recording record,
    @Figure("The previous run; absent if none is recorded") Optional<PreviousRun> lastLife)
    implements View {

  static BlackBoxView of(Mallometer mallometer) {
    return new BlackBoxView(mallometer.history().recording(), mallometer.history().previousRun());
  }
}
