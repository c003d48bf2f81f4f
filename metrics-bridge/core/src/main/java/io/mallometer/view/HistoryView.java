package io.mallometer.view;

import io.mallometer.Mallometer;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.RecordingStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answer of {@code nativememory/history}: the last hour at falling resolution. Like {@link
 * NativeMemoryView}, unknown numbers are {@code NaN}.
 *
 * @param points oldest first: five minutes as often as is polled, a quarter of an hour by ten
 *     seconds, the rest by the minute
 * @param recording the file that outlives the process
 */
public record HistoryView(List<Point> points, RecordingState recording) implements View {

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
      Instant time,
      @Whole double liveBytes,
      @Whole double liveObjects,
      @Whole double allocations,
      @Whole double allocatedBytes,
      @Whole double residentBytes,
      @Whole double chargedBytes,
      @Whole double workingSetBytes,
      @Whole double limitBytes) {

    private static Point of(HistoryPoint point) {
      return new Point(
          point.time(),
          point.liveBytes(),
          point.liveObjects(),
          point.allocations(),
          point.allocatedBytes(),
          point.residentBytes(),
          point.chargedBytes(),
          point.workingSetBytes(),
          point.limitBytes());
    }
  }

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

  static HistoryView of(Mallometer mallometer) {
    return new HistoryView(
        mallometer.history().points().stream().map(Point::of).toList(),
        RecordingState.of(mallometer.history().recording()));
  }
}
