package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.process.BudgetTable.Growing;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.MemoryBudget.Line;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class BudgetTableTest {

  private static final long MIB = 1 << 20;

  private static final OptionalLong METASPACE_LIMIT = OptionalLong.of(128 * MIB);

  private static final BudgetTable.Configuration CONFIGURATION =
      configuration(512 * MIB, "-Xmx", 0, METASPACE_LIMIT);

  private static final ResidentMemory RESIDENT = resident(300 * MIB, Map.of());

  private static final ResidentMemory SHARING =
      resident(305 * MIB, Map.of(ResidentPart.SHARED_MEMORY, 5 * MIB));

  /**
   * The total is 822 MiB: 512 of heap, 128 of metaspace, 30 of code, 10 of direct buffers, 50 of
   * stacks, 70 of native memory, and 22 of kernel memory and tmpfs.
   */
  @Test
  void whatIsBoundedCountsWithItsBoundAndTheRestWithItsUse() {
    MemoryBudget budget = BudgetTable.of(CONFIGURATION, RESIDENT, charged(642 * MIB));

    assertThat(budget.lines())
        .contains(
            new Line("java_heap", 512 * MIB, "configured", "-Xmx", 512 * MIB),
            new Line("metaspace", 128 * MIB, "configured", "-XX:MaxMetaspaceSize", 128 * MIB),
            new Line(
                "code_cache",
                30 * MIB,
                "measured",
                "now; -XX:ReservedCodeCacheSize is not set, it may reach 240 MiB",
                240 * MIB),
            new Line(
                "direct_buffers",
                10 * MIB,
                "measured",
                "now; -XX:MaxDirectMemorySize is not set, it may reach 512 MiB",
                512 * MIB),
            new Line("thread_stacks", 50 * MIB, "configured", "50 threads x 1024 KiB", Double.NaN));
    assertThat(budget.totalBytes()).isEqualTo(822 * MIB);
    assertThat(budget.headroomBytes()).isEqualTo(-180 * MIB);
    assertThat(budget.verdict())
        .isEqualTo("limit too small by 180 MiB for this configuration even without a leak");
  }

  /**
   * Pages that the process has not written do not count, because the kernel can drop them and read
   * the file again.
   */
  @Test
  void ofMappedFilesOnlyWhatWasWrittenCounts() {
    assertThat(BudgetTable.of(CONFIGURATION, RESIDENT, ProcessMemory.unknown()).lines())
        .contains(
            new Line(
                "native",
                (8 + 40 + 10 + 12) * MIB,
                "measured",
                "now resident: JVM structures, malloc, copied file pages",
                Double.NaN));
  }

  @Test
  void aLimitThatIsLargeEnoughSaysByHowMuch() {
    assertThat(BudgetTable.of(CONFIGURATION, RESIDENT, charged(1000 * MIB)).verdict())
        .isEqualTo("limit leaves 178 MiB above this configuration");
  }

  /**
   * The configuration needs 822 MiB, including 40 MiB that native code has allocated and that may
   * be a leak.
   */
  @Test
  void whatNativeCodeHoldsMayBeALeak() {
    assertThat(verdict(760))
        .isEqualTo("limit too small by 62 MiB for this configuration even without a leak");
    assertThat(verdict(800))
        .isEqualTo(
            "limit too small by 22 MiB for this configuration and the 40 MiB that native code has"
                + " allocated, which may be a leak");
    assertThat(verdict(822)).isEqualTo("limit leaves 0 B above this configuration");
  }

  /** A JVM that does not see its container takes a quarter of the machine for its heap. */
  @Test
  void aHeapThatWasChosenForTheMachineExceedsTheContainer() {
    BudgetTable.Configuration machine =
        configuration(4096 * MIB, "chosen by the JVM; -Xmx is not set", 0, METASPACE_LIMIT);

    assertThat(BudgetTable.of(machine, RESIDENT, charged(1024 * MIB)).verdict())
        .isEqualTo("limit too small by 3.3 GiB for this configuration even without a leak");
  }

  /**
   * Shared memory has 10 MiB. The part that belongs to the Java heap must not count again, because
   * the heap's maximum already includes it.
   */
  @Test
  void aHeapThatIsChargedAsSharedMemoryCountsOnce() {
    assertThat(totalWithSharedHeap(8 * MIB)).isEqualTo((822 - 8) * MIB);
    assertThat(totalWithSharedHeap(300 * MIB)).isEqualTo((822 - 10) * MIB);
  }

  private static double totalWithSharedHeap(long sharedHeap) {
    BudgetTable.Configuration shared =
        configuration(512 * MIB, "-Xmx", sharedHeap, METASPACE_LIMIT);
    return BudgetTable.of(shared, RESIDENT, charged(642 * MIB)).totalBytes();
  }

  @Test
  void metaspaceWithoutALimitIsBoundedByNothing() {
    BudgetTable.Configuration unlimited = configuration(512 * MIB, "-Xmx", 0, OptionalLong.empty());

    assertThat(BudgetTable.of(unlimited, RESIDENT, ProcessMemory.unknown()).lines())
        .contains(
            new Line(
                "metaspace",
                60 * MIB,
                "measured",
                "now; -XX:MaxMetaspaceSize is not set, no setting limits it",
                Double.NaN));
  }

  private static String verdict(long limitMebibytes) {
    return BudgetTable.of(CONFIGURATION, RESIDENT, charged(limitMebibytes * MIB)).verdict();
  }

  @Test
  void withoutALimitThereIsNoVerdictOnIt() {
    MemoryBudget budget = BudgetTable.of(CONFIGURATION, RESIDENT, ProcessMemory.unknown());

    assertThat(budget.limitBytes()).isNaN();
    assertThat(budget.headroomBytes()).isNaN();
    assertThat(budget.verdict()).isEqualTo("no limit is set; this configuration may need 800 MiB");
    assertThat(BudgetTable.of(CONFIGURATION, RESIDENT, machine(8000 * MIB)).verdict())
        .isEqualTo("no limit is set; this configuration may need 800 MiB of the machine's 7.8 GiB");
  }

  @Test
  void aStatedLimitIsTheLimitOfTheDiagnosisAndOfThisProcessAlone() {
    ProcessMemory memory = stated(1000 * MIB, charged(Double.NaN));
    MemoryBudget budget = BudgetTable.of(CONFIGURATION, SHARING, memory);

    assertThat(budget.limitBytes()).isEqualTo(memory.limit().bytes()).isEqualTo(1000 * MIB);
    assertThat(budget.verdict()).isEqualTo("limit leaves 195 MiB above this configuration");
    assertThat(budget.lines())
        .extracting(Line::item)
        .contains("shared_memory")
        .doesNotContain("beside");
  }

  @Test
  void ofAStatedLimitAndTheCgroupsTheOneHoldsThatLeavesLess() {
    ProcessMemory roomy = stated(2000 * MIB, charged(642 * MIB));
    ProcessMemory tight = stated(310 * MIB, charged(642 * MIB));

    assertThat(BudgetTable.of(CONFIGURATION, RESIDENT, roomy).limitBytes()).isEqualTo(642 * MIB);
    assertThat(BudgetTable.of(CONFIGURATION, RESIDENT, tight).limitBytes()).isEqualTo(310 * MIB);
  }

  private static BudgetTable.Configuration configuration(
      long heap, String heapSetting, long sharedHeap, OptionalLong metaspaceLimit) {
    return new BudgetTable.Configuration(
        OptionalLong.of(heap),
        heapSetting,
        sharedHeap,
        new Growing(metaspaceLimit, OptionalLong.of(60 * MIB), OptionalLong.empty()),
        new Growing(OptionalLong.empty(), OptionalLong.of(30 * MIB), OptionalLong.of(240 * MIB)),
        new Growing(OptionalLong.empty(), OptionalLong.of(10 * MIB), OptionalLong.of(512 * MIB)),
        OptionalLong.of(50),
        OptionalLong.of(MIB));
  }

  private static ResidentMemory resident(long total, Map<ResidentPart, Long> more) {
    Map<ResidentPart, Long> parts = new EnumMap<>(ResidentPart.class);
    parts.put(ResidentPart.JAVA_HEAP, 200 * MIB);
    parts.put(ResidentPart.GC_AND_JVM, 8 * MIB);
    parts.put(ResidentPart.MALLOC_LIVE, 40 * MIB);
    parts.put(ResidentPart.MALLOC_RETAINED, 10 * MIB);
    parts.put(ResidentPart.MAPPED_FILES, 30 * MIB);
    parts.putAll(more);
    return new ResidentMemory(Instant.EPOCH, total, parts, 0, 12 * MIB, true, 100, 0.01);
  }

  private static ProcessMemory stated(double limit, ProcessMemory of) {
    return new ProcessMemory(
        300 * MIB,
        18 * MIB,
        of.resident(),
        of.cgroup(),
        Optional.empty(),
        Double.NaN,
        Double.NaN,
        limit);
  }

  private static ProcessMemory machine(double bytes) {
    return new ProcessMemory(
        300 * MIB,
        18 * MIB,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        bytes,
        bytes / 2,
        Double.NaN);
  }

  private static ProcessMemory charged(double limit) {
    return new ProcessMemory(
        300 * MIB, Optional.of(RESIDENT), Optional.of(limited(limit)), Optional.empty());
  }

  private static CgroupMemory limited(double limit) {
    return new CgroupMemory(
        2,
        400 * MIB,
        Map.of(
            ChargedPart.THIS_PROCESS, 270 * MIB,
            ChargedPart.PAGE_CACHE, 108 * MIB,
            ChargedPart.KERNEL, 12 * MIB,
            ChargedPart.TMPFS, 10 * MIB),
        limit,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Map.of(),
        Optional.empty());
  }
}
