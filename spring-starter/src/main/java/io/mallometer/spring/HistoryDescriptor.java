package io.mallometer.spring;

import io.mallometer.HistoryPoint;
import io.mallometer.Mallometer;
import io.mallometer.Recording;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What {@code nativememory/history} answers: the last hour at falling resolution. Like {@link
 * NativeMemoryDescriptor}, unknown numbers are null.
 *
 * @param points oldest first: five minutes as often as is polled, a quarter of an hour by ten
 *     seconds, the rest by the minute
 * @param record the file that outlives the process
 */
public record HistoryDescriptor(List<Point> points, BlackBox record)
    implements OperationResponseBody {

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
          NativeMemoryDescriptor.wholeOrNull(point.liveBytes()),
          NativeMemoryDescriptor.wholeOrNull(point.liveObjects()),
          NativeMemoryDescriptor.wholeOrNull(point.allocations()),
          NativeMemoryDescriptor.wholeOrNull(point.allocatedBytes()),
          NativeMemoryDescriptor.wholeOrNull(point.residentBytes()),
          NativeMemoryDescriptor.wholeOrNull(point.chargedBytes()),
          NativeMemoryDescriptor.wholeOrNull(point.workingSetBytes()),
          NativeMemoryDescriptor.wholeOrNull(point.limitBytes()));
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

    private static BlackBox of(Recording recording) {
      return new BlackBox(
          recording.state().name(), emptyIsNull(recording.path()), emptyIsNull(recording.reason()));
    }

    private static @Nullable String emptyIsNull(String text) {
      return text.isEmpty() ? null : text;
    }
  }

  static HistoryDescriptor of(Mallometer mallometer) {
    return new HistoryDescriptor(
        mallometer.history().stream().map(Point::of).toList(), BlackBox.of(mallometer.recording()));
  }
}
