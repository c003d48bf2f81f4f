package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.Figure;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.Recording;
import java.util.List;

/**
 * Answer of {@code nativememory/history}: the last hour at falling resolution, five minutes as
 * often as is polled, a quarter of an hour by ten seconds, the rest by the minute.
 */
public record HistoryView(
    @Figure("The moments, oldest first") List<HistoryPoint> points,
    @Figure("The file that outlives the process") Recording record)
    implements View {

  static HistoryView of(Mallometer mallometer) {
    return new HistoryView(mallometer.history().points(), mallometer.history().recording());
  }
}
