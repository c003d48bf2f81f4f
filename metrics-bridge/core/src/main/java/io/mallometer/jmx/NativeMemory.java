package io.mallometer.jmx;

import io.mallometer.Bracket;
import io.mallometer.Mallometer;
import io.mallometer.model.Attachment;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Recording;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Shows the latest snapshot. */
final class NativeMemory implements NativeMemoryMXBean {

  private final Mallometer mallometer;
  private volatile @Nullable Bracket bracket;

  NativeMemory(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  /** A whole number, or null for {@code NaN}. */
  static @Nullable Long known(double value) {
    return Double.isNaN(value) ? null : (long) value;
  }

  @Override
  public @Nullable Long getAllocationCount() {
    return count(NativeCounters::allocations);
  }

  @Override
  public @Nullable Long getSmallAllocationCount() {
    return count(NativeCounters::smallAllocations);
  }

  @Override
  public @Nullable Long getLargeAllocationCount() {
    return count(NativeCounters::largeAllocations);
  }

  @Override
  public @Nullable Long getHugeAllocationCount() {
    return count(NativeCounters::hugeAllocations);
  }

  @Override
  public @Nullable Long getFailedAllocationCount() {
    return count(NativeCounters::failed);
  }

  @Override
  public @Nullable Long getRequestedBytes() {
    return count(NativeCounters::requestedBytes);
  }

  @Override
  public @Nullable Long getAllocatedBytes() {
    return count(NativeCounters::allocatedBytes);
  }

  @Override
  public @Nullable Long getFreeCount() {
    return count(NativeCounters::frees);
  }

  @Override
  public @Nullable Long getFreedBytes() {
    return count(NativeCounters::freedBytes);
  }

  @Override
  public @Nullable Long getLiveBytes() {
    return gauge(NativeCounters::liveBytes);
  }

  @Override
  public @Nullable Long getLiveObjects() {
    return gauge(NativeCounters::liveObjects);
  }

  @Override
  public @Nullable Long getPeakBytes() {
    return gauge(NativeCounters::peakBytes);
  }

  @Override
  public @Nullable Long getPeakErrorBytes() {
    return gauge(NativeCounters::peakErrorBytes);
  }

  @Override
  public @Nullable Long getLargestRequestBytes() {
    return gauge(NativeCounters::largestRequestBytes);
  }

  @Override
  public @Nullable Long getThreads() {
    return count(NativeCounters::threads);
  }

  @Override
  public List<SizeClass> getSizeDistribution() {
    return snapshot()
        .process()
        .map(counters -> sizeClasses(counters.allocationsBySize()))
        .orElse(List.of());
  }

  @Override
  public Map<String, Long> getAllocationsUpTo() {
    return snapshot()
        .process()
        .map(counters -> upTo(counters.allocationsBySize()))
        .orElse(Map.of());
  }

  @Override
  public @Nullable Long getResidentBytes() {
    return known(snapshot().memory().residentBytes());
  }

  @Override
  public Map<String, Long> getResidentParts() {
    return snapshot()
        .memory()
        .resident()
        .map(resident -> byTag(resident.bytes(), ResidentPart::tag))
        .orElse(Map.of());
  }

  @Override
  public Map<String, Long> getCgroupParts() {
    return cgroup().map(cgroup -> byTag(cgroup.bytes(), ChargedPart::tag)).orElse(Map.of());
  }

  @Override
  public @Nullable Long getCgroupLimitBytes() {
    return ofCgroup(CgroupMemory::limitBytes);
  }

  @Override
  public @Nullable Long getCgroupHighBytes() {
    return ofCgroup(CgroupMemory::highBytes);
  }

  @Override
  public @Nullable Long getCgroupWorkingSetBytes() {
    return ofCgroup(CgroupMemory::workingSetBytes);
  }

  @Override
  public @Nullable Long getCgroupSwapBytes() {
    return ofCgroup(CgroupMemory::swapBytes);
  }

  @Override
  public Map<String, Long> getCgroupEvents() {
    return cgroup().map(CgroupMemory::events).orElse(Map.of());
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
  public List<HistoryRow> getHistory() {
    return mallometer.history().points().stream().map(HistoryRow::of).toList();
  }

  @Override
  public String getRecordPath() {
    Recording recording = mallometer.history().recording();
    return recording.state() == Recording.State.ON ? recording.path() : "";
  }

  @Override
  public String getRecordFailure() {
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
  public Map<String, Long> getStates() {
    Map<String, Long> states = new LinkedHashMap<>();
    for (State state : State.values()) {
      states.put(state.tag(), snapshot().status().state() == state ? 1L : 0L);
    }
    return states;
  }

  @Override
  public String getIdentity() {
    SelfReport self = snapshot().self();
    return "version=%s, allocator=%s, mode=%s, accounting=%s"
        .formatted(self.build(), self.allocator(), self.mode(), self.byteUnit().tag());
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
  public @Nullable Long getBaselineBytes() {
    return snapshot().self().attachment().isPresent()
        ? gauge(counted -> counted.baseline().bytes())
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
  public double getSnapshotAge() {
    return snapshot().ageSeconds(mallometer.clock());
  }

  @Override
  public double getOverhead() {
    return snapshot().self().overheadSeconds();
  }

  @Override
  public @Nullable Long getFootprintBytes() {
    return known(snapshot().self().footprintBytes());
  }

  @Override
  public void hook() {
    bracket = mallometer.counting().hook();
  }

  @Override
  public @Nullable Statistics unhook() {
    Bracket open = bracket;
    return open == null ? null : statistics(open.unhook());
  }

  @Override
  public @Nullable Statistics statistics() {
    Bracket open = bracket;
    return open == null ? null : statistics(open.statistics());
  }

  private Snapshot snapshot() {
    return mallometer.scraped();
  }

  private Optional<CgroupMemory> cgroup() {
    return snapshot().memory().cgroup();
  }

  private @Nullable Long ofCgroup(ToDoubleFunction<CgroupMemory> figure) {
    Optional<CgroupMemory> cgroup = cgroup();
    return cgroup.isPresent() ? known(figure.applyAsDouble(cgroup.get())) : null;
  }

  /** In the order in which the parts are declared. */
  private static <P extends Enum<P>> Map<String, Long> byTag(
      Map<P, Long> bytes, Function<P, String> tag) {
    Map<String, Long> byTag = new LinkedHashMap<>();
    bytes.keySet().stream().sorted().forEach(part -> byTag.put(tag.apply(part), bytes.get(part)));
    return byTag;
  }

  private static List<BudgetLine> lines(MemoryBudget budget) {
    return budget.lines().stream()
        .map(line -> new BudgetLine(line.item(), line.bytes(), line.basis(), line.detail()))
        .toList();
  }

  private @Nullable Long count(ToLongFunction<NativeCounters> figure) {
    Optional<NativeCounters> process = snapshot().process();
    return process.isPresent() ? (Long) figure.applyAsLong(process.get()) : null;
  }

  private @Nullable Long gauge(ToDoubleFunction<NativeCounters> figure) {
    Optional<NativeCounters> process = snapshot().process();
    return process.isPresent() ? known(figure.applyAsDouble(process.get())) : null;
  }

  private static @Nullable Statistics statistics(Optional<NativeCounters> counters) {
    return counters.map(Statistics::of).orElse(null);
  }

  private static List<SizeClass> sizeClasses(SizeDistribution distribution) {
    List<SizeClass> classes = new ArrayList<>(SizeDistribution.CLASSES);
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      classes.add(new SizeClass((long) SizeDistribution.upperBound(i), distribution.count(i)));
    }
    return classes;
  }

  private static Map<String, Long> upTo(SizeDistribution distribution) {
    Map<String, Long> upTo = new LinkedHashMap<>();
    long count = 0;
    for (int i = 0; i < SizeDistribution.CLASSES; i++) {
      double bound = SizeDistribution.upperBound(i);
      count += distribution.count(i);
      upTo.put(Double.isInfinite(bound) ? "+Inf" : Double.toString(bound), count);
    }
    return upTo;
  }
}
