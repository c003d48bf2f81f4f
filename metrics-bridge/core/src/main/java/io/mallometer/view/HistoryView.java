package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.Recording;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code nativememory/history} answers: the last hour at falling resolution. Like {@link
 * NativeMemoryView}, unknown numbers are null.
 *
 * @param points oldest first: five minutes as often as is polled, a quarter of an hour by ten
 *     seconds, the rest by the minute
 * @param record the file that outlives the process
 */
public record HistoryView(List<Point> points, BlackBox record) implements View {

  /**
   * One moment.
   *
   * @param time when it was, in ISO 8601
   * @param liveBytes native memory in use
   * @param liveObjects native objects in use
   * @param allocations successful native allocations since the process started
   * @param allocatedBytes native memory handed out since the process started
   * @param residentBytes the resident set
   * @param chargedBytes what the kernel charges to the memory cgroup
   * @param workingSetBytes the same without inactive files
   * @param limitBytes the cgroup's limit
   */
  public record Point(
      String time,
      @Nullable Long liveBytes,
      @Nullable Long liveObjects,
      @Nullable Long allocations,
      @Nullable Long allocatedBytes,
      @Nullable Long residentBytes,
      @Nullable Long chargedBytes,
      @Nullable Long workingSetBytes,
      @Nullable Long limitBytes) {

    private static Point of(HistoryPoint point) {
      return new Point(
          point.time().toString(),
          NativeMemoryView.wholeOrNull(point.liveBytes()),
          NativeMemoryView.wholeOrNull(point.liveObjects()),
          NativeMemoryView.wholeOrNull(point.allocations()),
          NativeMemoryView.wholeOrNull(point.allocatedBytes()),
          NativeMemoryView.wholeOrNull(point.residentBytes()),
          NativeMemoryView.wholeOrNull(point.chargedBytes()),
          NativeMemoryView.wholeOrNull(point.workingSetBytes()),
          NativeMemoryView.wholeOrNull(point.limitBytes()));
    }
  }

  /**
   * The file that outlives the process.
   *
   * @param state {@code OFF}, {@code ON} or {@code FAILED}
   * @param path the file; null while off
   * @param reason why it failed; null otherwise
   */
  public record BlackBox(String state, @Nullable String path, @Nullable String reason) {

    static BlackBox of(Recording recording) {
      return new BlackBox(
          recording.state().name(), emptyIsNull(recording.path()), emptyIsNull(recording.reason()));
    }

    private static @Nullable String emptyIsNull(String text) {
      return text.isEmpty() ? null : text;
    }
  }

  static HistoryView of(Mallometer mallometer) {
    return new HistoryView(
        mallometer.history().points().stream().map(Point::of).toList(),
        BlackBox.of(mallometer.history().recording()));
  }
}
