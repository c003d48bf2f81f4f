package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Phase;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers the requests to {@link NativeMemoryMXBean} from the latest snapshot. */
final class NativeMemoryBean implements Described.OfNativeMemory {

  private final Mallometer mallometer;
  private @Nullable NativeScope scope;

  NativeMemoryBean(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  static @Nullable Long known(double value) {
    return Double.isNaN(value) ? null : (long) value;
  }

  @Override
  public List<Row> getSizeDistribution() {
    return snapshot().process().map(NativeCounters::requestSizes).orElse(List.of()).stream()
        .map(Row::of)
        .toList();
  }

  @Override
  public @Nullable Row getBudget() {
    return Row.of(snapshot().memory().budget());
  }

  @Override
  public @Nullable Row getResident() {
    return Row.of(snapshot().memory().resident());
  }

  @Override
  public @Nullable Row getCgroup() {
    return Row.of(snapshot().memory().cgroup());
  }

  @Override
  public List<Row> getHistory() {
    return mallometer.history().points().stream().map(Row::of).toList();
  }

  @Override
  public Row getRecording() {
    return Row.of(mallometer.history().recording());
  }

  @Override
  public boolean isActive() {
    return snapshot().status().active();
  }

  @Override
  public Row getStatus() {
    return Row.of(snapshot().status());
  }

  @Override
  public Row getSelf() {
    return Row.of(snapshot().self());
  }

  @Override
  public String getIdentity() {
    SelfReport self = snapshot().self();
    return "version=%s, allocator=%s, mode=%s, accounting=%s"
        .formatted(self.build(), self.allocator(), self.mode(), self.byteUnit().tag());
  }

  @Override
  public @Nullable String getApplicationVersion() {
    return snapshot().applicationVersion().orElse(null);
  }

  @Override
  public synchronized void hook() {
    if (scope != null) {
      scope.close();
    }
    scope = mallometer.counting().processScope();
  }

  @Override
  public synchronized @Nullable Row unhook() {
    @Nullable NativeScope open = scope;
    scope = null;
    return open == null ? null : row(open.unhook());
  }

  @Override
  public synchronized @Nullable Row statistics() {
    return scope == null ? null : row(scope.figures());
  }

  @Override
  public @Nullable Row nextPhase(String name) {
    return mallometer
        .monitors()
        .nextPhase(name)
        .map(Phase::figures)
        .map(NativeMemoryBean::row)
        .orElse(null);
  }

  private static @Nullable Row row(ScopeFigures figures) {
    return Row.of(figures.counts());
  }

  private Snapshot snapshot() {
    return mallometer.scraped();
  }
}
