package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.model.Attachment;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Shows the latest snapshot. */
final class NativeMemory implements Described.OfNativeMemory {

  private final Mallometer mallometer;
  private @Nullable NativeScope scope;

  NativeMemory(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  /** A whole number, or null for {@code NaN}. */
  static @Nullable Long known(double value) {
    return Double.isNaN(value) ? null : (long) value;
  }

  @Override
  public String getDiagnosis() {
    return snapshot().diagnosis().state().tag();
  }

  @Override
  public String getDiagnosisSentence() {
    return snapshot().diagnosis().sentence();
  }

  @Override
  public List<String> getActions() {
    return snapshot().diagnosis().actions();
  }

  @Override
  public List<SizeClass> getSizeDistribution() {
    return snapshot()
        .process()
        .map(counters -> sizeClasses(counters.allocationsBySize()))
        .orElse(List.of());
  }

  @Override
  public List<BudgetLine> getBudget() {
    return snapshot().memory().budget().map(NativeMemory::lines).orElse(List.of());
  }

  @Override
  public String getBudgetVerdict() {
    return snapshot().memory().budget().map(MemoryBudget::verdict).orElse("");
  }

  @Override
  public String getHugePages() {
    return snapshot()
        .memory()
        .resident()
        .flatMap(ResidentMemory::hugePages)
        .map(HugePages::sentence)
        .orElse("");
  }

  @Override
  public List<HistoryRow> getHistory() {
    return mallometer.history().points().stream().map(HistoryRow::of).toList();
  }

  @Override
  public String getRecordingPath() {
    RecordingStatus recording = mallometer.history().recording();
    return recording.state() == RecordingStatus.State.ON ? recording.path() : "";
  }

  @Override
  public String getRecordingFailure() {
    return mallometer.history().recording().reason();
  }

  @Override
  public boolean isActive() {
    return snapshot().status().active();
  }

  @Override
  public String getStatus() {
    return snapshot().status().state().name();
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
  public String getReason() {
    return snapshot().status().reason();
  }

  @Override
  public String getRemedy() {
    return snapshot().status().remedy();
  }

  @Override
  public String getBuild() {
    return snapshot().self().build();
  }

  @Override
  public String getAllocator() {
    return snapshot().self().allocator();
  }

  @Override
  public String getMode() {
    return snapshot().self().mode();
  }

  @Override
  public String getSince() {
    return snapshot().self().since().map(Instant::toString).orElse("");
  }

  @Override
  public @Nullable AttachmentFigures getAttachment() {
    Optional<NativeCounters> counted = snapshot().process();
    Optional<Attachment> attachment = snapshot().self().attachment();
    return counted.isPresent() && attachment.isPresent()
        ? AttachmentFigures.of(attachment.get(), counted.get().baseline())
        : null;
  }

  @Override
  public String getByteUnit() {
    return snapshot().self().byteUnit().tag();
  }

  @Override
  public String getRemark() {
    return snapshot().self().remark();
  }

  @Override
  public synchronized void hook() {
    if (scope != null) {
      scope.close();
    }
    scope = mallometer.counting().processScope();
  }

  @Override
  public synchronized @Nullable Statistics unhook() {
    @Nullable NativeScope open = scope;
    scope = null;
    return open == null ? null : statistics(open.unhook());
  }

  @Override
  public synchronized @Nullable Statistics statistics() {
    return scope == null ? null : statistics(scope.figures());
  }

  private static @Nullable Statistics statistics(ScopeFigures figures) {
    return figures.counts().map(Statistics::of).orElse(null);
  }

  @Override
  public @Nullable Statistics nextPhase(String name) {
    return mallometer
        .monitors()
        .nextPhase(name)
        .flatMap(phase -> phase.figures().counts())
        .map(Statistics::of)
        .orElse(null);
  }

  private Snapshot snapshot() {
    return mallometer.scraped();
  }

  private static List<BudgetLine> lines(MemoryBudget budget) {
    return budget.lines().stream()
        .map(line -> new BudgetLine(line.item(), line.bytes(), line.basis(), line.detail()))
        .toList();
  }

  private static List<SizeClass> sizeClasses(SizeDistribution distribution) {
    List<SizeClass> classes = new ArrayList<>(SizeDistribution.CLASSES);
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      classes.add(new SizeClass((long) SizeDistribution.upperBound(i), distribution.count(i)));
    }
    return classes;
  }
}
