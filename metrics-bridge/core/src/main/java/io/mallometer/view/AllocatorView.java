package io.mallometer.view;

import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Answer of {@code nativememory/allocator}: the allocator and the memory that it retains. Like
 * {@link NativeMemoryView}, unknown numbers are {@code NaN}: all of them without the native
 * library.
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
    Optional<Instant> time,
    @Whole double arenas,
    @Whole double systemBytes,
    @Whole double usedBytes,
    @Whole double retainedBytes,
    @Whole double mappedBytes,
    @Whole double releasableBytes,
    @Whole double trimmableBytes,
    @Whole double residentBytes,
    @Whole double trims,
    double costSeconds,
    List<AllocatorStatistics.Arena> arenaTable,
    List<Advice> advice,
    List<HugeAllocation> largeAllocations)
    implements View {

  static AllocatorView of(Snapshot snapshot) {
    Optional<AllocatorStatistics> statistics = snapshot.allocator();
    return new AllocatorView(
        snapshot.self().allocator(),
        statistics.map(AllocatorStatistics::kind).orElse(AllocatorKind.UNKNOWN).tag(),
        statistics.map(AllocatorStatistics::time),
        figure(statistics, AllocatorStatistics::arenas),
        figure(statistics, AllocatorStatistics::systemBytes),
        figure(statistics, AllocatorStatistics::usedBytes),
        figure(statistics, AllocatorStatistics::retainedBytes),
        figure(statistics, AllocatorStatistics::mappedBytes),
        figure(statistics, AllocatorStatistics::releasableBytes),
        figure(statistics, AllocatorStatistics::trimmableBytes),
        figure(statistics, AllocatorStatistics::residentBytes),
        figure(statistics, AllocatorStatistics::trims),
        figure(statistics, AllocatorStatistics::costSeconds),
        statistics.map(AllocatorStatistics::byArena).orElse(List.of()),
        statistics.map(AllocatorStatistics::advice).orElse(List.of()),
        snapshot.hugeAllocations());
  }

  private static double figure(
      Optional<AllocatorStatistics> statistics, ToDoubleFunction<AllocatorStatistics> figure) {
    return statistics.isPresent() ? figure.applyAsDouble(statistics.get()) : Double.NaN;
  }
}
