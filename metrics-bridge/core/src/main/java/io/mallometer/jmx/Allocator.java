package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.TrimReport;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Shows the latest statistics of the allocator. */
final class Allocator implements AllocatorMXBean {

  private final Mallometer mallometer;

  Allocator(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public String getKind() {
    return statistics().map(AllocatorStatistics::kind).orElse(AllocatorKind.UNKNOWN).tag();
  }

  @Override
  public String getAllocator() {
    return mallometer.scraped().self().allocator();
  }

  @Override
  public Map<String, Figures> getByKind() {
    return statistics().isEmpty()
        ? Map.of()
        : Map.of(
            getKind(),
            new Figures(
                getArenas(),
                getSystemBytes(),
                getUsedBytes(),
                getRetainedBytes(),
                getTrimmableBytes(),
                getTrims()));
  }

  @Override
  public @Nullable Long getArenas() {
    return figure(AllocatorStatistics::arenas);
  }

  @Override
  public @Nullable Long getSystemBytes() {
    return figure(AllocatorStatistics::systemBytes);
  }

  @Override
  public @Nullable Long getUsedBytes() {
    return figure(AllocatorStatistics::usedBytes);
  }

  @Override
  public @Nullable Long getRetainedBytes() {
    return figure(AllocatorStatistics::retainedBytes);
  }

  @Override
  public @Nullable Long getMappedBytes() {
    return figure(AllocatorStatistics::mappedBytes);
  }

  @Override
  public @Nullable Long getReleasableBytes() {
    return figure(AllocatorStatistics::releasableBytes);
  }

  @Override
  public @Nullable Long getTrimmableBytes() {
    return figure(AllocatorStatistics::trimmableBytes);
  }

  @Override
  public @Nullable Long getResidentBytes() {
    return figure(AllocatorStatistics::residentBytes);
  }

  @Override
  public @Nullable Long getTrims() {
    return figure(AllocatorStatistics::trims);
  }

  @Override
  public @Nullable Double getStatisticsAge() {
    Instant now = mallometer.clock().instant();
    return statistics()
        .map(statistics -> Duration.between(statistics.time(), now).toNanos() / 1e9)
        .map(age -> Math.max(0, age))
        .orElse(null);
  }

  @Override
  public List<Arena> getArenaTable() {
    return statistics().map(AllocatorStatistics::byArena).orElse(List.of()).stream()
        .map(
            arena ->
                new Arena(
                    arena.number(),
                    arena.systemBytes(),
                    arena.usedBytes(),
                    arena.retainedBytes(),
                    arena.releasableBytes(),
                    arena.topBytes()))
        .toList();
  }

  @Override
  public List<LargeRequest> getLargeAllocations() {
    return mallometer.scraped().hugeAllocations().stream().map(Allocator::request).toList();
  }

  @Override
  public List<AdviceLine> getAdvice() {
    return statistics().map(AllocatorStatistics::advice).orElse(List.of()).stream()
        .map(advice -> new AdviceLine(advice.topic(), advice.reason(), advice.setting()))
        .toList();
  }

  @Override
  public Trim trim() {
    TrimReport report = mallometer.allocator().trim();
    return new Trim(
        report.outcome().name(),
        report.explanation(),
        NativeMemory.known(report.residentBeforeBytes()),
        NativeMemory.known(report.residentAfterBytes()),
        NativeMemory.known(report.returnedBytes()),
        Double.isNaN(report.seconds()) ? null : (Double) report.seconds(),
        report.nextPossible().map(Instant::toString).orElse(null));
  }

  static LargeRequest request(HugeAllocation allocation) {
    return new LargeRequest(
        allocation.number(),
        allocation.time().toString(),
        allocation.bytes(),
        allocation.threadId(),
        allocation.threadName());
  }

  private @Nullable Long figure(ToDoubleFunction<AllocatorStatistics> figure) {
    Optional<AllocatorStatistics> statistics = statistics();
    return statistics.isPresent()
        ? NativeMemory.known(figure.applyAsDouble(statistics.get()))
        : null;
  }

  private Optional<AllocatorStatistics> statistics() {
    return mallometer.scraped().allocator();
  }
}
