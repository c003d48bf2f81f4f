package io.mallometer.view;

import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.Snapshot;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What {@code nativememory/allocator} answers: the allocator below and what it keeps. Like {@link
 * NativeMemoryView}, unknown numbers are null: all of them without the native library.
 *
 * @param allocator what serves the allocations, with its version as far as it tells
 * @param kind the same without version, as in the tag of {@code native.allocator.*}
 * @param time when the statistics were read, in ISO 8601
 * @param arenas arenas that exist
 * @param systemBytes obtained from the operating system and not returned
 * @param usedBytes in use, the allocator's overhead for each object included
 * @param retainedBytes free and kept, resident or not
 * @param mappedBytes objects that are mapped singly; part of used
 * @param releasableBytes part of retained: what a trim would give back, resident or not
 * @param trimmableBytes resident memory that a trim would give back, at least
 * @param residentBytes resident, in the allocator's own view
 * @param trims trims by mallometer
 * @param costSeconds how long the reading took
 * @param arenaTable the arenas one by one, where the allocator tells
 * @param advice what could be done about memory that the allocator keeps; empty if all is well
 * @param largeAllocations the latest requests above the size MALLOMETER_HUGE, oldest first
 */
public record AllocatorView(
    String allocator,
    String kind,
    @Nullable String time,
    @Nullable Long arenas,
    @Nullable Long systemBytes,
    @Nullable Long usedBytes,
    @Nullable Long retainedBytes,
    @Nullable Long mappedBytes,
    @Nullable Long releasableBytes,
    @Nullable Long trimmableBytes,
    @Nullable Long residentBytes,
    @Nullable Long trims,
    @Nullable Double costSeconds,
    List<Arena> arenaTable,
    List<AdviceLine> advice,
    List<HugeRequest> largeAllocations)
    implements View {

  /**
   * One arena.
   *
   * @param number 0 is the main one
   * @param systemBytes obtained from the operating system
   * @param usedBytes in use
   * @param retainedBytes free
   * @param releasableBytes what a trim would give back, resident or not
   * @param topBytes free at the end
   */
  public record Arena(
      long number,
      long systemBytes,
      long usedBytes,
      long retainedBytes,
      long releasableBytes,
      long topBytes) {

    private static Arena of(AllocatorStatistics.Arena arena) {
      return new Arena(
          arena.number(),
          arena.systemBytes(),
          arena.usedBytes(),
          arena.retainedBytes(),
          arena.releasableBytes(),
          arena.topBytes());
    }
  }

  /**
   * One piece of advice.
   *
   * @param topic what it is about
   * @param reason what was found, in words and numbers
   * @param setting what to set, literally
   */
  public record AdviceLine(String topic, String reason, String setting) {

    private static AdviceLine of(Advice advice) {
      return new AdviceLine(advice.topic(), advice.reason(), advice.setting());
    }
  }

  /**
   * One huge request.
   *
   * @param number 1 for the process's first
   * @param time in ISO 8601
   * @param bytes what was asked for
   * @param threadId the kernel's number of the thread
   * @param threadName the kernel's name of the thread, at most 15 bytes
   */
  public record HugeRequest(long number, String time, long bytes, int threadId, String threadName) {

    private static HugeRequest of(HugeAllocation allocation) {
      return new HugeRequest(
          allocation.number(),
          allocation.time().toString(),
          allocation.bytes(),
          allocation.threadId(),
          allocation.threadName());
    }
  }

  static AllocatorView of(Snapshot snapshot) {
    Optional<AllocatorStatistics> statistics = snapshot.allocator();
    return new AllocatorView(
        snapshot.self().allocator(),
        statistics.map(AllocatorStatistics::kind).orElse(AllocatorKind.UNKNOWN).tag(),
        statistics.map(known -> known.time().toString()).orElse(null),
        whole(statistics, AllocatorStatistics::arenas),
        whole(statistics, AllocatorStatistics::systemBytes),
        whole(statistics, AllocatorStatistics::usedBytes),
        whole(statistics, AllocatorStatistics::retainedBytes),
        whole(statistics, AllocatorStatistics::mappedBytes),
        whole(statistics, AllocatorStatistics::releasableBytes),
        whole(statistics, AllocatorStatistics::trimmableBytes),
        whole(statistics, AllocatorStatistics::residentBytes),
        whole(statistics, AllocatorStatistics::trims),
        statistics.map(AllocatorStatistics::costSeconds).orElse(null),
        statistics.map(AllocatorStatistics::byArena).orElse(List.of()).stream()
            .map(Arena::of)
            .toList(),
        statistics.map(AllocatorStatistics::advice).orElse(List.of()).stream()
            .map(AdviceLine::of)
            .toList(),
        snapshot.hugeAllocations().stream().map(HugeRequest::of).toList());
  }

  private static @Nullable Long whole(
      Optional<AllocatorStatistics> statistics, ToDoubleFunction<AllocatorStatistics> figure) {
    return NativeMemoryView.wholeOrNull(
        statistics.isPresent() ? figure.applyAsDouble(statistics.get()) : Double.NaN);
  }
}
