package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that memory that a program maps by a foreign function is attributed to the Java line while
 * it is mapped.
 */
@Tag("process")
@Tag("any-jdk")
class ResidentStacksOfARealJvmTest {

  private static final String CLASS = "io.mallometer.preload.MapsMemory.";
  private static final int FIRST_WITH_LINKER = 22;

  /**
   * The tolerance in bytes, for pages that are touched between the readings of smaps and of the
   * page table.
   */
  private static final long SLACK = 4L << 20;

  @TempDir private Path directory;

  @Test
  void theLineThatMappedHasTheMemory() throws Exception {
    String output =
        child()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_STACKS", "java")
            .run(MapsMemory.class)
            .output();

    assertNamed("mapMemory", output);
    assertThat(bytes(moment("mapped", output), line -> line.startsWith("[unexplained]")))
        .as(output)
        .isLessThan(number("apart mapped", output) / 50);
  }

  @Test
  void theLineThatMappedByTheLinkerHasTheMemory() throws Exception {
    assumeTrue(Runtime.version().feature() >= FIRST_WITH_LINKER, "this JDK has no linker");
    ChildJvm preloaded = child().preload(BundledLibrary.extract(directory));

    assertNamed("mapLinked", linked(preloaded).run(MapsMemory.class, "linker").output());
    assertNamed("mapLinked", linked(child()).run(MapsMemory.class, "linker", "attach").output());
  }

  private static ChildJvm linked(ChildJvm child) {
    return child
        .environment("MALLOMETER_STACKS", "java")
        .options("--enable-native-access=ALL-UNNAMED");
  }

  @Test
  void afterAnAttachTheLineHasTheMemoryAndTheRestIsFromBefore() {
    String output = child().run(MapsMemory.class, "attach").output();

    assertNamed("mapMemory", output);
    assertThat(output).contains("detached and mapped true");
    assertThat(output.lines().filter(line -> line.equals("attach ACTIVE"))).as(output).hasSize(19);
    assertThat(bytes(moment("mapped", output), line -> line.startsWith("[mapped before")))
        .as(output)
        .isBetween(1L, number("apart mapped", output) / 10);
  }

  private static ChildJvm child() {
    return new ChildJvm().options("-Xmx64m").timeout(Duration.ofSeconds(180));
  }

  private static void assertNamed(String method, String output) {
    Predicate<String> ofLine = line -> line.contains(CLASS + method) && !line.startsWith("[malloc");
    assertThat(bytes(moment("before", output), ofLine)).as(output).isZero();
    assertThat(bytes(moment("mapped", output), ofLine))
        .as(output)
        .isBetween(MapsMemory.BYTES - SLACK, MapsMemory.BYTES + SLACK);
    assertThat(bytes(moment("unmapped", output), ofLine)).as(output).isZero();
    // The first reading is not compared, because it loads classes and so memory grows meanwhile.
    for (String moment : List.of("mapped", "unmapped")) {
      long apart = number("apart " + moment, output);
      assertThat(bytes(moment(moment, output), line -> true))
          .as(output)
          .isBetween(apart - apart / 100 - SLACK, apart + apart / 100 + SLACK);
    }
  }

  /** Returns the lines of stacks of one moment. */
  private static List<String> moment(String name, String output) {
    String after = output.substring(output.indexOf("== " + name));
    int end = after.indexOf("\n==", 1);
    return Arrays.stream((end < 0 ? after : after.substring(0, end)).split("\n"))
        .skip(1)
        .filter(line -> line.startsWith("["))
        .toList();
  }

  private static long number(String name, String output) {
    return Long.parseLong(output.replaceAll("(?s).*" + name + " (\\d+).*", "$1"));
  }

  private static long bytes(List<String> lines, Predicate<String> wanted) {
    return lines.stream()
        .filter(wanted)
        .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
