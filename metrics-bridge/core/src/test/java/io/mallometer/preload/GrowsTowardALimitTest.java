package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the forecast that the process reaches its limit. Resident memory that the kernel can drop
 * must not cause a forecast.
 */
@Tag("process")
@Tag("any-jdk")
class GrowsTowardALimitTest {

  private static final double MIB = 1 << 20;
  private static final double AN_HOUR = 3_600;

  @TempDir private Path directory;

  @Test
  void memoryThatIsWrittenReachesTheLimit() throws Exception {
    Map<String, String> said = run("touched");

    assertThat(number(said, "used")).isGreaterThan(400 * MIB);
    assertThat(number(said, "soonest")).as("%s", said).isBetween(100.0, 1_000.0);
  }

  @Test
  void memoryThatIsNeverTouchedDoesNot() throws Exception {
    Map<String, String> said = run("untouched");

    assertThat(said.get("site")).as("%s", said).contains("GiB").doesNotContain("limit");
    assertThat(said.get("state")).isNotEqualTo("ACT");
    assertThat(number(said, "seconds") < AN_HOUR).as("%s", said).isFalse();
  }

  /** Anonymous memory outside malloc is attributed to the line that mapped it. */
  @Test
  void memoryThatIsMappedHasItsLine() throws Exception {
    Map<String, String> said = run("mapped");

    assertThat(said.get("mapped"))
        .as("%s", said)
        .startsWith("io.mallometer.preload.MapsMemory.mapMemory (MapsMemory.java:");
    assertThat(number(said, "growth") / number(said, "total")).as("%s", said).isBetween(0.9, 1.1);
    assertThat(number(said, "soonest")).as("%s", said).isBetween(100.0, 1_000.0);
    assertThat(said.get("sentence")).as("%s", said).contains("MapsMemory.mapMemory", " maps ");
  }

  /** The file lies on a disk, because the kernel cannot drop the pages of a file in a tmpfs. */
  @Test
  void pagesOfAFileThatIsReadDoNot() throws Exception {
    Path sparse = Files.createTempFile(Path.of("target"), "mapped", ".data");
    try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
      file.setLength(GrowsTowardALimit.FILE_BYTES);
    }
    Map<String, String> said;
    try {
      said = run("file", sparse.toString());
    } finally {
      Files.delete(sparse);
    }

    assertThat(number(said, "resident")).isGreaterThan(GrowsTowardALimit.FILE_BYTES);
    assertThat(number(said, "used")).isLessThan(250 * MIB);
    assertThat(said.get("state")).isNotIn("ACT", "WATCH");
    assertThat(number(said, "seconds") < AN_HOUR).as("%s", said).isFalse();
  }

  private Map<String, String> run(String... arguments) throws Exception {
    ChildJvm.Result result =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .timeout(Duration.ofMinutes(3))
            .options("-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch")
            .run(GrowsTowardALimit.class, arguments);

    assertThat(result.exitCode()).as(result.output()).isZero();
    Map<String, String> said =
        result
            .output()
            .lines()
            .filter(line -> line.matches("[a-z]+=.*"))
            .map(line -> line.split("=", 2))
            .collect(Collectors.toMap(line -> line[0], line -> line[1], (one, other) -> one));
    assertThat(said).as(result.output()).containsEntry("source", "stated");
    assertThat(said).as(result.output()).containsEntry("budget", "" + GrowsTowardALimit.LIMIT);
    assertThat(said.get("verdict")).contains("limit");
    return said;
  }

  private static double number(Map<String, String> said, String name) {
    return Double.parseDouble(said.get(name));
  }
}
