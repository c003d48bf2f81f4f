package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answer of {@code nativememory/recording}: the file that outlives the process, and the end of the
 * previous run.
 *
 * @param file the recording of this run
 * @param previousRun the end of the previous run; empty if no file tells it
 */
public record RecordingView(RecordingState file, Optional<PreviousRun> previousRun)
    implements View {

  /**
   * The file that outlives the process.
   *
   * @param state {@code OFF}, {@code ON} or {@code FAILED}
   * @param path the file; null while off
   * @param reason why it failed; null otherwise
   */
  public record RecordingState(String state, @Nullable String path, @Nullable String reason) {

    static RecordingState of(RecordingStatus recording) {
      return new RecordingState(
          recording.state().name(), emptyIsNull(recording.path()), emptyIsNull(recording.reason()));
    }

    private static @Nullable String emptyIsNull(String text) {
      return text.isEmpty() ? null : text;
    }
  }

  static RecordingView of(Mallometer mallometer) {
    return new RecordingView(
        RecordingState.of(mallometer.history().recording()), mallometer.history().previousRun());
  }
}
