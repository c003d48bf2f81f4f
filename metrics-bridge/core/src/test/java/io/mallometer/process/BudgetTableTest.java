package io.mallometer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.CgroupMemory;
import io.mallometer.ChargedPart;
import io.mallometer.MemoryBudget;
import io.mallometer.MemoryBudget.Line;
import io.mallometer.ResidentMemory;
import io.mallometer.ResidentPart;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class BudgetTableTest {

  private static final long MIB = 1 << 20;

  private static final BudgetTable.Configuration CONFIGURATION =
      new BudgetTable.Configuration(
          OptionalLong.of(512 * MIB),
          OptionalLong.of(128 * MIB),
          OptionalLong.of(60 * MIB),
          OptionalLong.empty(),
          OptionalLong.of(30 * MIB),
          OptionalLong.empty(),
          OptionalLong.of(10 * MIB),
          OptionalLong.of(50),
          OptionalLong.of(MIB));

  private static final ResidentMemory RESIDENT =
      new ResidentMemory(
          Instant.EPOCH,
          300 * MIB,
          Map.of(
              ResidentPart.JAVA_HEAP, 200 * MIB,
              ResidentPart.GC_AND_JVM, 20 * MIB,
              ResidentPart.MALLOC_LIVE, 40 * MIB,
              ResidentPart.MALLOC_RETAINED, 10 * MIB,
              ResidentPart.MAPPED_FILES, 30 * MIB),
          true,
          100,
          0.01);

  /** 512 heap + 128 metaspace + 30 code + 10 direct + 50 stacks + 70 native + 22 beside. */
  @Test
  void whatIsBoundedCountsWithItsBoundAndTheRestWithItsUse() {
    MemoryBudget budget = BudgetTable.of(CONFIGURATION, RESIDENT, Optional.of(limited(642 * MIB)));

    assertThat(budget.lines())
        .contains(
            new Line("java-heap", 512 * MIB, "configured", "-Xmx, or what the JVM chose"),
            new Line("metaspace", 128 * MIB, "configured", "-XX:MaxMetaspaceSize"),
            new Line(
                "code-cache", 30 * MIB, "measured", "now; -XX:ReservedCodeCacheSize is not set"),
            new Line("thread-stacks", 50 * MIB, "configured", "50 threads x 1024 KiB"));
    assertThat(budget.totalBytes()).isEqualTo(822 * MIB);
    assertThat(budget.headroomBytes()).isEqualTo(-180 * MIB);
    assertThat(budget.verdict())
        .isEqualTo("limit too small by 180 MiB for this configuration even without a leak");
  }

  @Test
  void aLimitThatIsLargeEnoughSaysByHowMuch() {
    assertThat(BudgetTable.of(CONFIGURATION, RESIDENT, Optional.of(limited(1000 * MIB))).verdict())
        .isEqualTo("limit leaves 178 MiB above this configuration");
  }

  @Test
  void withoutALimitThereIsNoVerdictOnIt() {
    MemoryBudget budget = BudgetTable.of(CONFIGURATION, RESIDENT, Optional.empty());

    assertThat(budget.limitBytes()).isNaN();
    assertThat(budget.headroomBytes()).isNaN();
    assertThat(budget.verdict()).isEqualTo("no limit; this configuration may need 800 MiB");
  }

  private static CgroupMemory limited(long limit) {
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
