package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("process")
class LosesMemoryTest {

  @TempDir private Path directory;

  static List<String> collectors() {
    return Runtime.version().feature() < 25
        ? List.of("-XX:+UseG1GC", "-XX:+UseParallelGC")
        : List.of("-XX:+UseZGC", "-XX:+UseSerialGC");
  }

  static List<String> collectorsThatLeaveGarbage() {
    return collectors().stream().filter(collector -> !collector.equals("-XX:+UseZGC")).toList();
  }

  @ParameterizedTest
  @MethodSource("collectors")
  void lostObjectsHaveNoAddress(String collector) throws Exception {
    ChildJvm.Result result =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", "8192")
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options(collector)
            .run(LosesMemory.class);

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(lost(result.output(), "lose")).as(result.output()).isGreaterThanOrEqualTo(75);
    assertThat(lost(result.output(), "keep")).as(result.output()).isZero();
    assertThat(lost(result.output(), "move")).as(result.output()).isZero();
    assertThat(lost(result.output(), "deflaters")).as(result.output()).isZero();
  }

  /** Collectors do not clear the memory that they free, so addresses remain in free memory. */
  @ParameterizedTest
  @MethodSource("collectorsThatLeaveGarbage")
  void garbageThatWasCollectedHoldsNothing(String collector) throws Exception {
    ChildJvm.Result result =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", "65536")
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options(collector, "-Xms512m", "-Xmx512m", "-Xmn256m")
            .run(LosesMemoryToGarbage.class);

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(lost(result.output(), "leave")).as(result.output()).isGreaterThanOrEqualTo(50);
  }

  /**
   * The program allocates objects in two methods, {@code lose} and {@code keep}. Its first run
   * keeps only the addresses that {@code keep} obtains. The second run keeps all addresses, so only
   * the stack recorded in the first run distinguishes {@code lose} from {@code keep}.
   */
  @Test
  @Tag("any-jdk")
  void aLeakIsToldByItsLostMemoryLongBeforeTheLongestTimeoutAndInTheNextRunByItsStack()
      throws Exception {
    ChildJvm jvm =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_RECORDING", directory.resolve("recording").toString());

    assertThat(jvm.run(IsToldOfLostMemory.class).output())
        .containsPattern(
            "lose LEAK \\S+ from \\S+ holds \\S+ MiB: no address of \\d+ of \\d+ sampled objects"
                + " exists in the process, so no code can use or free them")
        .doesNotContain("keep LEAK");
    assertThat(jvm.run(IsToldOfLostMemory.class, "again").output())
        .containsPattern(
            "lose LEAK \\S+ from \\S+ holds \\S+ MiB: the same stack was a leak in an earlier run"
                + " \\(since .* UTC, lost\\), and is unused again: \\d+ of \\d+ observed objects")
        .doesNotContain("keep LEAK");
  }

  private static int lost(String output, String method) {
    Matcher line = Pattern.compile(method + " DONE (\\d+) of (\\d+) lost").matcher(output);
    assertThat(line.find()).as(output).isTrue();
    assertThat(Integer.parseInt(line.group(2))).as(output).isGreaterThanOrEqualTo(100);
    return Integer.parseInt(line.group(1));
  }
}
