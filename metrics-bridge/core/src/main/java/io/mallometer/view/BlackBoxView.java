package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.PreviousRun;
import org.jspecify.annotations.Nullable;

/**
 * What {@code nativememory/blackbox} answers: the file that outlives the process, and how the life
 * before this one ended.
 *
 * @param record the file
 * @param lastLife the life before; null if none is recorded
 */
public record BlackBoxView(HistoryView.BlackBox record, @Nullable Life lastLife) implements View {

  /**
   * A life that ended.
   *
   * @param file where it is recorded
   * @param pid its process id
   * @param ended when it last wrote, in ISO 8601
   * @param alarming whether it ended otherwise than by an exit
   * @param sentence how it ended
   * @param report the way there, as lines of text
   */
  public record Life(
      String file, long pid, String ended, boolean alarming, String sentence, String report) {

    private static Life of(PreviousRun life) {
      return new Life(
          life.file(),
          life.pid(),
          life.ended().toString(),
          life.alarming(),
          life.sentence(),
          life.report());
    }
  }

  static BlackBoxView of(Mallometer mallometer) {
    return new BlackBoxView(
        HistoryView.BlackBox.of(mallometer.history().recording()),
        mallometer.history().previousRun().map(Life::of).orElse(null));
  }
}
