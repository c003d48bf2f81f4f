package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Shows the latest statistics of the allocator. */
final class Allocator implements Described.OfAllocator {

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
  public Map<String, AllocatorMXBean.Figures> getByKind() {
    return statistics().map(known -> Map.of(known.kind().tag(), figures(known))).orElse(Map.of());
  }

  @Override
  public @Nullable Row getStatistics() {
    return Row.of(statistics());
  }

  @Override
  public List<Row> getHugeAllocations() {
    return mallometer.scraped().hugeAllocations().stream().map(Row::of).toList();
  }

  @Override
  public @Nullable Row getPools() {
    return Row.of(mallometer.scraped().pools());
  }

  @Override
  public Row trim() {
    return Row.of(mallometer.allocator().trim());
  }

  private static AllocatorMXBean.Figures figures(AllocatorStatistics known) {
    return new AllocatorMXBean.Figures(
        NativeMemoryBean.known(known.arenas()),
        NativeMemoryBean.known(known.systemBytes()),
        NativeMemoryBean.known(known.usedBytes()),
        NativeMemoryBean.known(known.retainedBytes()),
        NativeMemoryBean.known(known.trimmableBytes()),
        known.trims());
  }

  private Optional<AllocatorStatistics> statistics() {
    return mallometer.scraped().allocator();
  }
}
