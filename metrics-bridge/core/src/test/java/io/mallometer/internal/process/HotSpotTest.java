package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("process")
class HotSpotTest {

  private static final long MIB = 1 << 20;

  /**
   * The code cache is limited by its default size, and direct buffers by the maximum heap size, if
   * no limits are configured.
   *
   * <p>The sum of the code cache's segments may exceed its size by up to one page.
   */
  @Test
  void whatNobodyLimitedMayStillBeBounded() {
    String output =
        new ChildJvm()
            .compilingFully()
            .options("-XX:+UseG1GC", "-XX:+TieredCompilation")
            .run(Configuration.class)
            .output();

    assertThat(output)
        .contains("collector=G1\n", "setting=-Xmx\n", "heap=" + 128 * MIB)
        .contains("metaspace=unknown code=unknown direct=unknown stack=" + MIB);
    Matcher most =
        Pattern.compile("most: metaspace=unknown code=(\\d+) direct=" + 128 * MIB).matcher(output);
    assertThat(most.find()).as(output).isTrue();
    assertThat(Long.parseLong(most.group(1))).isBetween(240 * MIB, 240 * MIB + 4096);
  }

  @Test
  void whatSomebodySetIsALimitAndZgcsHeapIsChargedAsSharedMemory() {
    assertThat(
            new ChildJvm()
                .options("-XX:MaxMetaspaceSize=100m", "-XX:ReservedCodeCacheSize=64m")
                .options("-XX:MaxDirectMemorySize=32m", "-Xss512k")
                .options("-XX:+UseZGC", "-Xms64m")
                .run(Configuration.class)
                .output())
        .contains("collector=Z\n", "shared=" + 64 * MIB)
        .contains(
            "metaspace=%d code=%d direct=%d stack=%d"
                .formatted(100 * MIB, 64 * MIB, 32 * MIB, MIB / 2));
  }

  @Test
  void theHeapsSizeComesFromSomewhere() {
    assertThat(
            new ChildJvm()
                .withoutOptions()
                .options("-XX:MaxRAMPercentage=10", "-XX:MaxRAM=1g", "-XX:+UseParallelGC")
                .run(Configuration.class)
                .output())
        .contains("collector=PARALLEL\n", "setting=-XX:MaxRAMPercentage=10\n");
    assertThat(
            new ChildJvm()
                .withoutOptions()
                .options("-XX:MaxRAM=1g", "-XX:-UseContainerSupport", "-XX:+UseSerialGC")
                .run(Configuration.class)
                .output())
        .contains("collector=SERIAL\n", "setting=chosen by the JVM; -Xmx is not set\n")
        .contains("heap=" + 256 * MIB, "shared=0\n");
  }

  @Test
  void epsilonIsACollectorThatMallometerDoesNotKnow() {
    assertThat(
            new ChildJvm()
                .options("-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC")
                .run(Configuration.class)
                .output())
        .contains("collector=OTHER\n");
  }

  static final class Configuration {

    private Configuration() {}

    public static void main(String[] arguments) {
      BudgetTable.Configuration limits = HotSpot.configuration(OptionalLong.of(1));
      System.out.println(
          "heap=%s metaspace=%s code=%s direct=%s stack=%s"
              .formatted(
                  text(limits.maximumHeapBytes()),
                  text(limits.metaspace().limit()),
                  text(limits.codeCache().limit()),
                  text(limits.direct().limit()),
                  text(limits.stackBytes())));
      System.out.println("collector=" + Collector.ofThisJvm());
      System.out.println("setting=" + limits.heapSetting());
      System.out.println("shared=" + limits.sharedHeapBytes());
      System.out.println(
          "most: metaspace=%s code=%s direct=%s"
              .formatted(
                  text(limits.metaspace().most()),
                  text(limits.codeCache().most()),
                  text(limits.direct().most())));
    }

    private static String text(OptionalLong value) {
      return value.isPresent() ? String.valueOf(value.getAsLong()) : "unknown";
    }
  }
}
